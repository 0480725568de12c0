package authorship

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/endpoints/responsewriter"

	"github.com/slipway-dev/slipway/cluster/protocol"
)

// Serve has a handler answer a request, which is a [Call] from then on.
func (c *Calls) Serve(handler http.Handler, w http.ResponseWriter, r *http.Request) {
	call, r := c.begin(r)
	if !writes(r) {
		handler.ServeHTTP(w, r)
		return
	}
	a := &answer{ResponseWriter: w}
	handler.ServeHTTP(responsewriter.WrapForHTTP1Or2(a), r)
	if a.status >= http.StatusBadRequest && a.status != http.StatusUnauthorized { // anyone could fill the record with those
		c.refused(call.refusal(a, r))
	}
}

// writes reports whether a request is to change something.
func writes(r *http.Request) bool {
	return r.Method != http.MethodGet && r.Method != http.MethodHead
}

// answer keeps the beginning of a refusal.
type answer struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

// maxRefusal bounds, in bytes, what is kept of a refusal.
const maxRefusal = 16 << 10

// Unwrap is for [http.ResponseController] and package responsewriter.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// WriteHeader begins the answer.
func (a *answer) WriteHeader(status int) {
	if a.status < http.StatusOK { // those below announce another one
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write writes a part of the answer.
func (a *answer) Write(b []byte) (int, error) {
	if a.status >= http.StatusBadRequest {
		a.body.Write(b[:min(len(b), maxRefusal-a.body.Len())])
	}
	return a.ResponseWriter.Write(b)
}

// Flush sends what is written.
func (a *answer) Flush() { _ = http.NewResponseController(a.ResponseWriter).Flush() } // where it can

// resolver has the prefixes of every API server without others in its flags.
var resolver = &request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}

func (c *Call) refusal(a *answer, r *http.Request) protocol.RecordEntry {
	e := protocol.RecordEntry{Kind: protocol.RecordRefusal, Status: a.status, By: &protocol.RecordAuthor{}}
	e.By.User = c.userOf(r, a.status)
	status := statusOf(a.body.Bytes())
	e.Reason, e.Message = string(status.Reason), status.Message
	info, err := resolver.NewRequestInfo(r)
	if err != nil || !info.IsResourceRequest {
		e.By.Verb, e.Path = r.Method, r.URL.Path
		c.describe(e.By)
		return e
	}
	e.By.Verb, e.By.Subresource = info.Verb, info.Subresource
	c.describe(e.By)
	e.Object = &protocol.RecordObject{Group: info.APIGroup, Resource: info.Resource, Namespace: info.Namespace, Name: info.Name}
	if e.Object.Name == "" && status.Details != nil { // of an object that was to be created
		e.Object.Name = status.Details.Name
	}
	if info.Resource == "namespaces" { // they are requested as if they were within themselves
		e.Object.Namespace = ""
	}
	if e.Decisions = c.decided(e.Object); info.Resource == "secrets" { // validation quotes values
		e.Message, e.Decisions = "", nil
	}
	return e
}

// beforeAuthentication are answers that a request may get before it is known whose it is.
var beforeAuthentication = []int{
	http.StatusBadRequest, http.StatusUnauthorized, http.StatusRequestEntityTooLarge, http.StatusTooManyRequests, http.StatusServiceUnavailable,
}

// userOf is who made a request that was refused. The server's own clients are authenticated in front of all others, by
// their token.
func (c *Call) userOf(r *http.Request, status int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch as := r.Header.Get("Impersonate-User"); {
	case c.user != "" && as != "":
		return as
	case c.user == "" && !slices.Contains(beforeAuthentication, status):
		return user.APIServerUser
	}
	return c.user
}

// statusOf decodes a refusal; what is none is empty.
func statusOf(body []byte) (status metav1.Status) {
	if raw, ok := bytes.CutPrefix(body, []byte("k8s\x00")); ok {
		var unknown runtime.Unknown
		if unknown.Unmarshal(raw) == nil {
			_ = status.Unmarshal(unknown.Raw)
		}
		return status
	}
	_ = json.Unmarshal(body, &status)
	return status
}
