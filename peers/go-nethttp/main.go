// The avatar redirect on Go's net/http: a goroutine for each connection.
package main

import (
	"fmt"
	"log"
	"math/rand"
	"net/http"
	"os"
	"time"
)

const images = 21

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: avatar PORT")
	}
	rand.Seed(time.Now().UnixNano()) // Go before 1.20 does not do it by itself.
	http.HandleFunc("/", redirect)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}

func redirect(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Location", fmt.Sprintf("https://avatar.spacefox.fr/Renard-%d.png", rand.Intn(images)+1))
	w.WriteHeader(http.StatusFound)
}
