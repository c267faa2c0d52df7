// The avatar redirect on a bare TCP socket in Go: one request of each connection, not understood; one connection after
// the other, or with the argument `goroutines` each in a goroutine of its own.
package main

import (
	"fmt"
	"log"
	"math/rand"
	"net"
	"os"
	"time"
)

const images = 21

func main() {
	concurrent := len(os.Args) == 3 && os.Args[2] == "goroutines"
	if len(os.Args) != 2 && !concurrent {
		log.Fatal("usage: avatar PORT [goroutines]")
	}
	rand.Seed(time.Now().UnixNano()) // Go before 1.20 does not do it by itself.
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	buffer := make([]byte, 1024)
	for {
		connection, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		if concurrent {
			go answer(connection, make([]byte, 1024))
		} else {
			answer(connection, buffer)
		}
	}
}

// answer ignores errors: they are the client's, and the next one waits.
func answer(connection net.Conn, buffer []byte) {
	defer connection.Close()
	if _, err := connection.Read(buffer); err != nil {
		return
	}
	fmt.Fprintf(connection, "HTTP/1.1 302 Found\r\n"+
		"Location: https://avatar.spacefox.fr/Renard-%d.png\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
		rand.Intn(images)+1)
}
