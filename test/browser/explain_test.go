package browser

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"testing"
	"time"
)

var serve = flag.String("serve", "", "address at which the page is served with the objects of these tests, until an interrupt")

// TestServe serves the page for those who work on it.
func TestServe(t *testing.T) {
	if *serve == "" {
		t.Skip("it serves the page with -args -serve 127.0.0.1:8090")
	}
	c := newCluster(t)
	listener, err := net.Listen("tcp", *serve)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: c.Config.Handler, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	fmt.Printf("http://%s/#token=%s\n", listener.Addr(), c.token)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	tick := time.NewTicker(700 * time.Millisecond)
	defer tick.Stop()
	for i := recorded; ; i++ {
		select {
		case <-stop:
			_ = server.Close()
			return
		case <-tick.C:
			c.happen(entryAt(i%390 + 2))
			o := c.objects[1000+i%200]
			o.State = []string{"ready", "in-progress", "not-ready"}[i%3]
			c.change(o)
		}
	}
}
