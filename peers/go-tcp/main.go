// The avatar redirect on a bare TCP socket in Go: one connection after the other, one request each, not understood.
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
	if len(os.Args) != 2 {
		log.Fatal("usage: avatar PORT")
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
		answer(connection, buffer)
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
