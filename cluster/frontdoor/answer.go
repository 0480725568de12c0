package frontdoor

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/slipway-dev/slipway/cluster/objectmeta"
)

// answer follows what a handler answers. The handler's goroutines use it one at a time, as they have to use every
// [http.ResponseWriter].
type answer struct {
	http.ResponseWriter
	passage *passage
	status  int                // 0 until the answer begins
	taken   bool               // the handler answers on the connection itself
	reader  *objectmeta.Reader // nil if nothing is read
	events  *deliveries        // nil if the answer has none that are reported
}

// Unwrap is for [http.ResponseController] and package responsewriter.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// WriteHeader begins the answer.
func (a *answer) WriteHeader(status int) {
	a.begin(status)
	a.ResponseWriter.WriteHeader(status)
}

// Write writes a part of the answer.
func (a *answer) Write(b []byte) (int, error) {
	a.begin(http.StatusOK)
	a.reader.Scan(b)
	a.events.scan(b)
	return a.ResponseWriter.Write(b)
}

// Flush begins the answer, too.
func (a *answer) Flush() {
	a.begin(http.StatusOK)
	_ = http.NewResponseController(a.ResponseWriter).Flush() // net/http's can
}

func (a *answer) begin(status int) {
	const firstFinal = 200 // those below announce another one
	if a.status != 0 || status < firstFinal {
		return
	}
	a.status = status
	switch {
	case a.passage.long:
		a.passage.report(status, objectmeta.Metadata{})
		if a.passage.delivers != nil && status == http.StatusOK {
			a.events = a.passage.delivers(a.Header().Get("Content-Type"))
		}
	case a.passage.said.Resource != "" && status < http.StatusMultipleChoices:
		a.reader = objectmeta.NewReader(a.Header().Get("Content-Type"))
	}
}

// Hijack hands the connection to the handler, which speaks another protocol on it. Its first bytes begin the answer.
func (a *answer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(a.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	a.taken = true
	u := &upgraded{Conn: conn, passage: a.passage}
	rw.Writer.Reset(u)
	return u, rw, nil
}

// upgraded is a connection that a handler has taken over.
type upgraded struct {
	net.Conn
	passage *passage
	begun   sync.Once
}

// Write reports the request with its first bytes: the beginning of an answer of HTTP/1.1, which may be a refusal.
func (u *upgraded) Write(b []byte) (int, error) {
	u.begun.Do(func() {
		var major, minor, status int
		const statusLine = len("HTTP/1.1 101")
		if _, err := fmt.Sscanf(string(b[:min(len(b), statusLine)]), "HTTP/%d.%d %d", &major, &minor, &status); err != nil {
			status = http.StatusSwitchingProtocols
		}
		u.passage.report(status, objectmeta.Metadata{})
	})
	return u.Conn.Write(b)
}

// unauthorized answers as the API server does. Upstream counterpart: Unauthorized in
// k8s.io/apiserver/pkg/endpoints/filters/authentication.go, which also ends a connection of HTTP/2 after that.
func unauthorized(w http.ResponseWriter, r *http.Request, info *request.RequestInfo) {
	if r.ProtoMajor > 1 {
		w.Header().Set("Connection", "close")
	}
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	version := schema.GroupVersion{Group: info.APIGroup, Version: info.APIVersion}
	responsewriters.ErrorNegotiated(apierrors.NewUnauthorized("Unauthorized"), serializer.NewCodecFactory(scheme), version, w, r)
}
