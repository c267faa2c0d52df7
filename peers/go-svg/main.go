// An avatar in any colour: an SVG template that Go fills in for each request.
//
//	/random.svg  redirects to a colour chosen at random
//	/3a5174.svg  is the picture in that colour; as in the study, the template is read and parsed each time
//	/            redirects like all peers
package main

import (
	"fmt"
	"html/template"
	"log"
	"math/rand"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

const (
	images  = 21
	colours = 1 << 24
)

var picture = regexp.MustCompile(`^/([0-9a-f]{6})\.svg$`)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: avatar FOLDER-OF-THE-TEMPLATE PORT")
	}
	rand.Seed(time.Now().UnixNano()) // Go before 1.20 does not do it by itself.
	file := filepath.Join(os.Args[1], "template.svg")
	http.HandleFunc("/random.svg", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, fmt.Sprintf("/%06x.svg", rand.Intn(colours)), http.StatusFound)
	})
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if colour := picture.FindStringSubmatch(r.URL.Path); colour != nil {
			draw(w, file, colour[1])
			return
		}
		w.Header().Set("Location", fmt.Sprintf("https://avatar.spacefox.fr/Renard-%d.png", rand.Intn(images)+1))
		w.WriteHeader(http.StatusFound)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[2], nil))
}

func draw(w http.ResponseWriter, file, colour string) {
	parsed, err := template.ParseFiles(file)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "image/svg+xml; charset=utf-8")
	if err := parsed.Execute(w, struct{ Color string }{colour}); err != nil {
		log.Print(err)
	}
}
