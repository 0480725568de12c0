package services

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
	"unicode"
)

// Unreachable says that a Service has no endpoint that can be connected to.
type Unreachable struct {
	Namespace, Service string
	Simulated          []string // its ready pods, all of which are simulated
}

func (u *Unreachable) Error() string {
	if len(u.Simulated) == 0 {
		return fmt.Sprintf("the Service %s/%s has no ready endpoints", u.Namespace, u.Service)
	}
	return fmt.Sprintf("the pods of Service %s/%s are simulated: none of their processes runs", u.Namespace, u.Service)
}

// mostNamed is how many simulated pods a page names.
const mostNamed = 5

// Page is what a client that speaks HTTP reads in place of the Service's answer.
func (u *Unreachable) Page() string {
	var b strings.Builder
	fmt.Fprintf(&b, "slipway: %s.\n\n", u.Error())
	if len(u.Simulated) == 0 {
		fmt.Fprintf(&b, "  slipway kubectl --namespace %s get pods\n\nlists the pods and the reasons for which they wait.\n", u.Namespace)
		return printable(b.String())
	}
	named := u.Simulated[:min(len(u.Simulated), mostNamed)]
	for _, pod := range named {
		fmt.Fprintf(&b, "  pod %s/%s is simulated\n", u.Namespace, pod)
	}
	if more := len(u.Simulated) - len(named); more > 0 {
		fmt.Fprintf(&b, "  and %d more\n", more)
	}
	fmt.Fprintf(&b, "\nAn Event on each pod reports why:\n\n  slipway kubectl --namespace %s describe pod %s\n", u.Namespace, named[0])
	fmt.Fprintf(&b, "\nLoad their images into the cluster and recreate the pods, so that they run as containers:\n\n"+
		"  slipway image load IMAGE\n  slipway kubectl --namespace %s rollout restart deployment NAME\n", u.Namespace)
	return printable(b.String())
}

// printable leaves out what a terminal would take for a command: EndpointSlices may name anything.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text)
}

const (
	// sniffTime is how long a client may take to begin with HTTP.
	sniffTime = 5 * time.Second
	// sniffSize bounds the request that it begins with.
	sniffSize = 64 << 10
)

// explain answers a request of HTTP/1 with why nothing else answers it. Clients of other protocols see a connection
// that is reset.
func explain(ctx context.Context, conn net.Conn, err error) {
	var nowhere *Unreachable
	if !errors.As(err, &nowhere) {
		reset(conn)
		return
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	_ = conn.SetDeadline(time.Now().Add(sniffTime))
	reader := bufio.NewReader(io.LimitReader(conn, sniffSize))
	if begin, err := reader.Peek(1); err != nil || begin[0] < 'A' || begin[0] > 'Z' { // no method begins like that
		reset(conn)
		return
	}
	request, err := http.ReadRequest(reader)
	if err != nil || request.ProtoMajor != 1 {
		reset(conn)
		return
	}
	if nowhere.answer(conn, request) == nil {
		if c, ok := conn.(interface{ CloseWrite() error }); ok {
			_ = c.CloseWrite()
		}
		// What the client still sends would have the kernel reset the connection before the answer is read.
		_, _ = io.Copy(io.Discard, io.LimitReader(conn, sniffSize))
	}
}

func (u *Unreachable) answer(to io.Writer, request *http.Request) error {
	page := u.Page()
	header := http.Header{}
	header.Set("Content-Type", "text/plain; charset=utf-8")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	response := http.Response{
		StatusCode: http.StatusServiceUnavailable, ProtoMajor: 1, ProtoMinor: 1, Request: request, Close: true,
		Header: header, Body: io.NopCloser(strings.NewReader(page)), ContentLength: int64(len(page)),
	}
	return response.Write(to)
}
