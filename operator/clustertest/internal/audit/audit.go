// Package audit reads the log of requests that an API server keeps. [Prepare] makes the flags for such a log, and a
// [Log] returns what it holds.
//
// The format is that of the API server's log backend, audit.k8s.io/v1: a JSON object a line, for each stage of a
// request. A request is logged before it is handled, so that a reader who knows of its answer finds it in the log.
package audit

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// policy logs the requests of ServiceAccounts, without bodies, and the watches of administrators. The stage
// ResponseStarted is that of watches.
const policy = `apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- level: Metadata
  userGroups: [system:serviceaccounts]
- level: Metadata
  userGroups: [system:masters]
  verbs: [watch]
- level: None
`

// Log is the file that an API server writes. The zero value is none.
type Log struct{ path string }

// Prepare writes a policy into dir, and returns the log that an API server with these flags keeps there.
func Prepare(dir string) (Log, []string, error) {
	file, log := filepath.Join(dir, "audit-policy.yaml"), filepath.Join(dir, "audit.log")
	if err := os.WriteFile(file, []byte(policy), 0o600); err != nil {
		return Log{}, nil, err
	}
	return Log{log}, []string{"--audit-policy-file=" + file, "--audit-log-path=" + log, "--audit-log-mode=blocking"}, nil
}

// ErrNone is returned for a cluster that keeps no log.
var ErrNone = errors.New("the cluster keeps no log of requests")

// Request is a request of User. Code is 0 until it is answered.
type Request struct {
	Time                                                time.Time
	User                                                string
	Verb, Group, Resource, Subresource, Namespace, Name string
	URI                                                 string
	Code                                                int
	Forbidden                                           bool // by RBAC, and not by a quota or a policy, whose answer has the same Code
}

// event is what is read of a line.
type event struct {
	AuditID    string    `json:"auditID"`
	RequestURI string    `json:"requestURI"`
	Verb       string    `json:"verb"`
	Received   time.Time `json:"requestReceivedTimestamp"`
	User       struct {
		Name string `json:"username"`
	} `json:"user"`
	Object struct {
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
		Group       string `json:"apiGroup"`
	} `json:"objectRef"`
	Response struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	Annotations map[string]string `json:"annotations"`
}

func (e event) request() Request {
	o := e.Object
	return Request{Time: e.Received, User: e.User.Name, Verb: e.Verb, Group: o.Group, Resource: o.Resource, Subresource: o.Subresource,
		Namespace: o.Namespace, Name: o.Name, URI: e.RequestURI, Code: e.Response.Code,
		Forbidden: e.Annotations["authorization.k8s.io/decision"] == "forbid"}
}

// Requests returns the requests of a user for objects, in the order in which they came.
func (l Log) Requests(user string) ([]Request, error) {
	return l.read(func(e event) bool { return e.User.Name == user })
}

// Watches returns the watches of all other users but Kubernetes' own programs.
func (l Log) Watches(except string) ([]Request, error) {
	return l.read(func(e event) bool {
		name := e.User.Name
		return e.Verb == "watch" && name != except && (!strings.HasPrefix(name, "system:") || strings.HasPrefix(name, "system:serviceaccount:"))
	})
}

func (l Log) read(counts func(event) bool) ([]Request, error) {
	if l.path == "" {
		return nil, ErrNone
	}
	file, err := os.Open(l.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // the API server makes it for the first request
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	requests, err := read(file, counts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.path, err)
	}
	return requests, nil
}

// read returns the requests that count. Each is known by its last stage; a line that is being written is left out.
func read(from io.Reader, counts func(event) bool) ([]Request, error) {
	var requests []Request
	at := map[string]int{}
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, err
		}
		if !counts(e) || e.Object.Resource == "" { // discovery is no request for an object
			continue
		}
		i, known := at[e.AuditID]
		if !known {
			i = len(requests)
			at[e.AuditID], requests = i, append(requests, Request{})
		}
		requests[i] = e.request()
	}
	slices.SortStableFunc(requests, func(a, b Request) int { return a.Time.Compare(b.Time) })
	return requests, nil
}
