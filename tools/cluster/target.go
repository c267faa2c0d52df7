// The server under test of ./dev cluster-test: an answer at once, or after as many milliseconds as the path says.
package main

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

func main() {
	http.HandleFunc("/", func(out http.ResponseWriter, request *http.Request) {
		if ms, err := strconv.Atoi(strings.TrimPrefix(request.URL.Path, "/sleep/")); err == nil {
			time.Sleep(time.Duration(ms) * time.Millisecond)
		}
		fmt.Fprint(out, "hello")
	})
	if err := http.ListenAndServe(os.Args[1], nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
