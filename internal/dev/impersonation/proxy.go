package impersonation

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// dialLimit and keepAlive are client-go's, in k8s.io/client-go/transport.
const dialLimit, keepAlive = 30 * time.Second, 30 * time.Second

// impersonationPrefix begins the names of the headers of impersonation, in the form of [http.Header]'s keys; see
// k8s.io/api/authentication/v1.
const impersonationPrefix = "Impersonate-"

// lead prepares the way to the cluster. Its connections end with life.
func (d *Door) lead(life context.Context) (err error) {
	config := rest.CopyConfig(d.options.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: d.options.User, Groups: d.options.Groups}
	config.Dial = dialUntil(life, config.Dial)
	if d.cluster, _, err = rest.DefaultServerUrlFor(config); err != nil {
		return err
	}
	if d.requests, err = rest.TransportFor(config); err != nil {
		return err
	}
	config.NextProtos = []string{"http/1.1"}
	d.upgrades, err = rest.TransportFor(config)
	return err
}

type dial = func(ctx context.Context, network, address string) (net.Conn, error)

// dialUntil makes connections that end with life. A dial that nothing waits for any more, since its request has ended,
// still makes one.
func dialUntil(life context.Context, dial dial) dial {
	if dial == nil {
		dial = (&net.Dialer{Timeout: dialLimit, KeepAlive: keepAlive}).DialContext
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &bounded{Conn: conn, forget: context.AfterFunc(life, func() { _ = conn.Close() })}, nil
	}
}

// bounded is a connection that ends with a context.
type bounded struct {
	net.Conn
	forget func() bool
}

func (b *bounded) Close() error {
	b.forget()
	return b.Conn.Close()
}

// upgradable is where an answer is written. A connection that is taken over, to speak another protocol on it, ends with
// its request, also while only its client's side is open.
type upgradable struct {
	http.ResponseWriter
	request context.Context
}

// Unwrap is for [http.ResponseController].
func (u upgradable) Unwrap() http.ResponseWriter { return u.ResponseWriter }

// Hijack is an [http.Hijacker]'s.
func (u upgradable) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(u.ResponseWriter).Hijack()
	if err == nil {
		context.AfterFunc(u.request, func() { _ = conn.Close() }) // net/http ends the context with the handler
	}
	return conn, rw, err
}

// ServeHTTP serves the door's listener.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !d.enter() {
		panic(http.ErrAbortHandler)
	}
	defer d.handlers.Done()
	if !d.knows(r) {
		refuse(w, apierrors.NewUnauthorized("Unauthorized"))
		return
	}
	p := d.begin(r)
	defer p.report() // and when the proxy breaks an answer off, by a panic
	if why := p.refusal(r); why != nil {
		p.status = refuse(w, why)
		return
	}
	proxy := httputil.ReverseProxy{
		Rewrite: d.rewrite, Transport: d.requests, ModifyResponse: p.answered, ErrorHandler: p.fail,
		FlushInterval: -1, // at once
		ErrorLog:      log.New(io.Discard, "", 0),
	}
	if r.Header.Get("Upgrade") != "" {
		proxy.Transport = d.upgrades
	}
	proxy.ServeHTTP(upgradable{w, r.Context()}, r)
}

// refusal is why a request is not sent on, or nil.
func (p *passage) refusal(r *http.Request) *apierrors.StatusError {
	for name := range r.Header {
		if strings.HasPrefix(name, impersonationPrefix) {
			return apierrors.NewForbidden(schema.GroupResource{Group: p.said.Group, Resource: p.said.Resource}, p.said.Name,
				errors.New("slipway sends this request as "+p.said.User+"; it cannot carry the header "+name+" of its own"))
		}
	}
	for _, protocol := range r.Header["Upgrade"] {
		if !strings.EqualFold(protocol, "websocket") && !strings.EqualFold(protocol, "SPDY/3.1") {
			return apierrors.NewBadRequest("slipway sends no request on that asks for the protocol " + strconv.Quote(protocol))
		}
	}
	segments := strings.Split(r.URL.Path, "/")
	if segments[0] != "" || slices.Contains(segments, ".") || slices.Contains(segments, "..") {
		return apierrors.NewBadRequest("slipway sends no request on whose path is relative: " + strconv.Quote(r.URL.Path))
	}
	return nil
}

// rewrite makes the request to the cluster. Its transport adds the credentials and whom they impersonate.
//
// The transport asks for compression by itself, so that what it reads is plain and has its resource version.
func (d *Door) rewrite(r *httputil.ProxyRequest) {
	r.SetURL(d.cluster)
	r.Out.URL.RawQuery = r.In.URL.RawQuery
	r.Out.Trailer = nil // some servers take trailers for headers
	r.Out.Header.Del("Authorization")
	r.Out.Header.Del("Accept-Encoding")
}

// answered is called when the cluster begins to answer.
func (p *passage) answered(answer *http.Response) error {
	p.status = answer.StatusCode
	switch {
	case p.long || answer.StatusCode == http.StatusSwitchingProtocols:
		p.report()
	case p.said.Resource != "" && answer.StatusCode < http.StatusMultipleChoices && answer.Header.Get("Content-Encoding") == "":
		p.metadata = newReader(answer.Header.Get("Content-Type"))
		answer.Body = read{answer.Body, p.metadata}
	}
	return nil
}

// read is the body of an answer whose metadata are read on its way.
type read struct {
	io.ReadCloser
	by *reader
}

func (r read) Read(b []byte) (int, error) {
	n, err := r.ReadCloser.Read(b)
	r.by.scan(b[:n])
	return n, err
}

// fail answers a request that the cluster did not answer.
func (p *passage) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil { // its client is gone, or the door is closed
		panic(http.ErrAbortHandler)
	}
	p.status = refuse(w, apierrors.NewServiceUnavailable("slipway has no answer of the cluster: "+err.Error()))
}

// refuse answers in the form of the API server.
func refuse(w http.ResponseWriter, why *apierrors.StatusError) (code int) {
	status := why.ErrStatus
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(status.Code))
	_ = json.NewEncoder(w).Encode(status) // a client that is gone reads nothing
	return int(status.Code)
}
