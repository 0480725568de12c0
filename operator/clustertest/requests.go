package clustertest

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/audit"
	"github.com/slipway-dev/slipway/operator/clustertest/internal/fault"
)

// Request is a request that the API server received: its verb as RBAC knows it, the resource, the object, and the HTTP
// status of the answer, 0 while there is none.
type Request struct{ audit.Request }

// String is the request for messages: "patch deployments.apps/status default/web: 409".
func (r Request) String() string {
	resource := r.Resource
	if r.Group != "" {
		resource += "." + r.Group
	}
	if r.Subresource != "" {
		resource += "/" + r.Subresource
	}
	return fmt.Sprintf("%s %s %s: %d", r.Verb, resource, strings.Trim(r.Namespace+"/"+r.Name, "/"), r.Code)
}

// Conflict reports whether the API server refused the request since the object had changed, or was there already.
func (r Request) Conflict() bool { return r.Code == http.StatusConflict }

// Refused reports whether the account lacked the permission.
func (r Request) Refused() bool { return r.Forbidden }

// Writes reports whether the request changes an object. Dry runs do not, and neither do questions that are put as a
// creation (a SubjectAccessReview). Leases are left out: a leader renews its own every few seconds.
func (r Request) Writes() bool {
	if !slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, r.Verb) {
		return false
	}
	if slices.Contains([]string{"authentication.k8s.io", "authorization.k8s.io", "coordination.k8s.io"}, r.Group) {
		return false
	}
	return !r.query().Has("dryRun")
}

// query is what stands behind the question mark. The API server has read it.
func (r Request) query() url.Values {
	u, err := url.Parse(r.URI)
	if err != nil {
		return nil
	}
	return u.Query()
}

// Requests returns all requests of the account for objects so far, in their order. Discovery is left out. The cluster
// must be [Audited].
func (a *Account) Requests(t testing.TB) []Request {
	t.Helper()
	return a.logged(t, audit.Log.Requests)
}

// logged returns what read finds for the account in the log.
func (a *Account) logged(t testing.TB, read func(audit.Log, string) ([]audit.Request, error)) []Request {
	t.Helper()
	found, err := read(a.cluster.audit, a.user())
	if errors.Is(err, audit.ErrNone) {
		err = &fault.Error{What: "the requests of an account cannot be read", Err: err, Hint: "start the cluster with the option clustertest.Audited()"}
	}
	if err != nil {
		fatal(t, err)
	}
	requests := make([]Request, len(found))
	for i, r := range found {
		requests[i] = Request{r}
	}
	return requests
}

// Writes returns the requests by which the account wrote, or tried to, while do ran. The account's other goroutines
// count, too.
func (a *Account) Writes(t testing.TB, do func()) []Request {
	t.Helper()
	before := len(a.Requests(t))
	do()
	return slices.DeleteFunc(a.Requests(t)[before:], func(r Request) bool { return !r.Writes() })
}
