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

// Unreachable is the error of a Service without an endpoint that can be connected to.
type Unreachable struct {
	Namespace, Service string
	Simulated          []string // its simulated pods that are ready or still serve
}

func (u *Unreachable) Error() string {
	if len(u.Simulated) == 0 {
		return fmt.Sprintf("the Service %s/%s has no ready endpoints", u.Namespace, u.Service)
	}
	return fmt.Sprintf("the pods of Service %s/%s are simulated: none of their processes runs", u.Namespace, u.Service)
}

// mostNamed bounds the simulated pods that a page names.
const mostNamed = 5

// Page returns the text that an HTTP client gets instead of the Service's answer.
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

// printable removes characters that could control a terminal: EndpointSlices can contain any names.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text)
}

const (
	// sniffTime bounds the wait for a client's HTTP request.
	sniffTime = 5 * time.Second
	// sniffSize bounds that request, in bytes.
	sniffSize = 64 << 10
)

// servePage answers an HTTP/1 request with the reason why the Service does not answer. It resets connections of other
// protocols.
func servePage(ctx context.Context, conn net.Conn, err error) {
	var nowhere *Unreachable
	if !errors.As(err, &nowhere) {
		reset(conn)
		return
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	_ = conn.SetDeadline(time.Now().Add(sniffTime))
	reader := bufio.NewReader(io.LimitReader(conn, sniffSize))
	if begin, err := reader.Peek(1); err != nil || begin[0] < 'A' || begin[0] > 'Z' { // HTTP methods begin with a capital letter
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
		// The kernel resets a connection that is closed with unread input, and the client could lose the answer.
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
