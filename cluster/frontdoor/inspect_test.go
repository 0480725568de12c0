package frontdoor_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/slipway-dev/slipway/cluster/frontdoor"
)

// A server is a handler behind an inspected door, with the events of one watch.
type server struct {
	written atomic.Int64
	events  chan string
}

// ServeHTTP answers writes with what they are, and watches with the events that come.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Query().Get("watch") == "" {
		body, _ := io.ReadAll(r.Body)
		if r.Method != http.MethodGet {
			s.written.Add(1)
			w.WriteHeader(http.StatusCreated)
		}
		_, _ = w.Write(bytes.ReplaceAll(body, []byte(`"generateName":"web-"`), []byte(`"name":"web-x1"`)))
		return
	}
	for {
		_ = http.NewResponseController(w).Flush()
		select {
		case e := <-s.events:
			half := len(e) / 2 // events come in pieces
			_, _ = io.WriteString(w, e[:half])
			_, _ = io.WriteString(w, e[half:])
		case <-r.Context().Done():
			return
		}
	}
}

func event(t string, name string, revision int, annotations ...string) string {
	return fmt.Sprintf(`{"type":%q,"object":{"metadata":{"name":%q,"uid":%q,"resourceVersion":"%d","annotations":{%s}}}}`+"\n", t, name, "id-"+name, revision, strings.Join(annotations, ","))
}

const synced = `"k8s.io/initial-events-end":"true"`

func inspected(t *testing.T, known func(types.UID) bool) (*server, *frontdoor.Door, *http.Client) {
	t.Helper()
	s := &server{events: make(chan string)}
	door, client := through(t, s.ServeHTTP, &frontdoor.Inspection{Revision: s.written.Load, Known: known})
	return s, door, client
}

// through is an inspected door, and a client of it.
func through(t *testing.T, serve http.HandlerFunc, how *frontdoor.Inspection) (*frontdoor.Door, *http.Client) {
	t.Helper()
	door := openWith(t, serve, how)
	config, err := clientcmd.BuildConfigFromFlags("", door.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	return door, client
}

const (
	configMaps = "/api/v1/namespaces/default/configmaps"
	one        = `{"metadata":{"name":"one"}}`
)

func send(t *testing.T, client *http.Client, method, url, body string) (status int, said string, err error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text), err
}

// TestFaults: each fault befalls the request that is meant, once, and says what became of it.
func TestFaults(t *testing.T) {
	create := frontdoor.Match{Verb: "create", Resource: "configmaps", Namespace: "default", Name: "one"}
	for name, tt := range map[string]struct {
		fault   frontdoor.Fault
		status  int   // of the first request; 0: it has no answer
		reached int64 // the server, after it
		after   int   // status of the second request
	}{
		"lost answer":     {frontdoor.Fault{Break: true}, 0, 1, http.StatusCreated},
		"lost request":    {frontdoor.Fault{Withhold: true, Break: true}, 0, 0, http.StatusCreated},
		"death after":     {frontdoor.Fault{Break: true, Shut: true}, 0, 1, 0},
		"death before":    {frontdoor.Fault{Withhold: true, Break: true, Shut: true}, 0, 0, 0},
		"conflict":        {frontdoor.Fault{Withhold: true, Answer: &frontdoor.Answer{Status: 409, Reason: "Conflict"}}, 409, 0, http.StatusCreated},
		"throttled":       {frontdoor.Fault{Withhold: true, Answer: &frontdoor.Answer{Status: 429, Reason: "TooManyRequests", RetryAfter: 1}}, 429, 0, http.StatusCreated},
		"the second time": {frontdoor.Fault{Withhold: true, Skip: 1, Answer: &frontdoor.Answer{Status: 500, Reason: "InternalError"}}, http.StatusCreated, 1, 500},
	} {
		t.Run(name, func(t *testing.T) {
			s, door, client := inspected(t, nil)
			tt.fault.Name, tt.fault.Match = name, create
			if err := door.Arm(tt.fault); err != nil {
				t.Fatal(err)
			}
			for i, want := range []int{tt.status, tt.after} {
				got, said, err := send(t, client, http.MethodPost, door.Server()+configMaps, one)
				if got != want || (err != nil) != (want == 0) {
					t.Errorf("request %d: %d %v, want %d", i+1, got, err, want)
				}
				var status metav1.Status
				if want >= 400 && (json.Unmarshal([]byte(said), &status) != nil || int(status.Code) != want || status.Reason != metav1.StatusReason(tt.fault.Answer.Reason)) {
					t.Errorf("it said %s", said)
				}
				if i == 0 && s.written.Load() != tt.reached {
					t.Errorf("%d requests have reached the server, want %d", s.written.Load(), tt.reached)
				}
			}
			if left, err := door.Disarm(); left != 0 || err != nil {
				t.Error(left, err)
			}
			_ = door.Close()
			var struck []frontdoor.Struck
			for r := range door.Reports() {
				if f, is := r.(frontdoor.Struck); is {
					struck = append(struck, f)
				}
			}
			if len(struck) != 1 || struck[0].Fault != name || struck[0].Serial != int64(1+tt.fault.Skip) {
				t.Errorf("%+v", struck)
			}
		})
	}
}

// TestFaultsByName: a name that the server is to choose is known by its beginning, dry runs are left alone, and what
// cannot be is refused.
func TestFaultsByName(t *testing.T) {
	s, door, client := inspected(t, nil)
	match := frontdoor.Match{Verb: "create", Resource: "configmaps", Namespace: "default", Name: "web-*"}
	if err := door.Arm(frontdoor.Fault{Match: match, Withhold: true, Answer: &frontdoor.Answer{Status: 500}}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		query, body string
		want        int
	}{
		{"", one, http.StatusCreated},
		{"?dryRun=All", `{"metadata":{"generateName":"web-"}}`, http.StatusCreated},
		{"", `{"metadata":{"generateName":"web-"}}`, 500},
		{"", `{"metadata":{"generateName":"web-"}}`, http.StatusCreated},
	} {
		if got, _, err := send(t, client, http.MethodPost, door.Server()+configMaps+tt.query, tt.body); got != tt.want || err != nil {
			t.Errorf("%s %s: %d %v, want %d", tt.query, tt.body, got, err, tt.want)
		}
	}
	if s.written.Load() != 3 {
		t.Error(s.written.Load())
	}
	for _, f := range []frontdoor.Fault{
		{}, {Match: frontdoor.Match{Verb: "watch", Resource: "pods"}}, {Match: match, Withhold: true},
		{Match: match, Withhold: true, Answer: &frontdoor.Answer{Status: 200}}, {Match: match, Answer: &frontdoor.Answer{Status: 500}},
	} {
		if err := door.Arm(f); !errors.Is(err, frontdoor.ErrFault) {
			t.Errorf("%+v: %v", f, err)
		}
	}
	plain := open(t, s.ServeHTTP)
	if err := plain.Arm(frontdoor.Fault{Match: match}); !errors.Is(err, frontdoor.ErrInspect) {
		t.Error(err)
	}
}

// TestStall: an answer waits, while others do not.
func TestStall(t *testing.T) {
	_, door, client := inspected(t, nil)
	if err := door.Arm(frontdoor.Fault{Name: "f", Stall: true, Match: frontdoor.Match{Verb: "get", Resource: "configmaps", Namespace: "default", Name: "one"}}); err != nil {
		t.Fatal(err)
	}
	done := make(chan int)
	go func() {
		status, _, _ := send(t, client, http.MethodGet, door.Server()+configMaps+"/one", "")
		done <- status
	}()
	var serial int64
	for r := range door.Reports() {
		if struck, is := r.(frontdoor.Struck); is {
			serial = struck.Serial
			break
		}
	}
	if status, _, err := send(t, client, http.MethodPost, door.Server()+configMaps, one); status != http.StatusCreated || err != nil {
		t.Fatal(status, err)
	}
	if err := errors.Join(door.Resume(serial), door.Resume(serial)); !errors.Is(err, frontdoor.ErrFault) {
		t.Errorf("a second time: %v", err)
	}
	if status := <-done; status != http.StatusOK {
		t.Error(status)
	}
}

// watching is a client's watch.
func watching(t *testing.T, door *frontdoor.Door, client *http.Client, query string) *bufio.Scanner {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, door.Server()+configMaps+"?watch=true"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata, application/vnd.kubernetes.protobuf")
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	return bufio.NewScanner(answer.Body)
}

// next are the types and names of the next events.
func next(t *testing.T, from *bufio.Scanner, n int) (events []string) {
	t.Helper()
	for range n {
		if !from.Scan() {
			t.Fatal("the watch has ended", from.Err())
		}
		var e struct {
			Type   string
			Object metav1.PartialObjectMetadata
		}
		if err := json.Unmarshal(from.Bytes(), &e); err != nil {
			t.Fatalf("%s: %v", from.Bytes(), err)
		}
		events = append(events, e.Type+" "+e.Object.Name+" "+e.Object.ResourceVersion)
	}
	return events
}

// delivered waits until so many events of watches were delivered.
func delivered(door *frontdoor.Door, n int) (types []string) {
	for r := range door.Reports() {
		if d, is := r.(frontdoor.Delivered); is {
			if types = append(types, d.Type); len(types) == n {
				break
			}
		}
	}
	return types
}

// TestHold: a watch that is held lags, and catches up in order, or as one that begins anew; others do not lag.
func TestHold(t *testing.T) {
	for _, tt := range []struct {
		merged bool
		want   []string
	}{
		{false, []string{"ADDED b 3", "MODIFIED a 4", "MODIFIED b 5", "ADDED c 6", "DELETED c 7", "MODIFIED a 8"}},
		{true, []string{"ADDED b 5", "MODIFIED a 8"}},
	} {
		s, door, client := inspected(t, nil)
		w := watching(t, door, client, "&sendInitialEvents=true")
		for _, e := range []string{event("ADDED", "a", 1), event("BOOKMARK", "", 2, synced)} {
			s.events <- e
		}
		next(t, w, 2)
		if got := delivered(door, 1); !slices.Equal(got, []string{frontdoor.Synced}) {
			t.Error(got)
		}
		if err := errors.Join(door.Hold("", "configmaps"), door.Hold("apps", "deployments")); err != nil {
			t.Fatal(err)
		}
		for _, e := range []string{event("ADDED", "b", 3), event("MODIFIED", "a", 4), event("MODIFIED", "b", 5), event("ADDED", "c", 6), event("DELETED", "c", 7), event("MODIFIED", "a", 8)} {
			s.events <- e
		}
		s.events <- event("BOOKMARK", "", 9) // has come once the ones before are held
		s.events <- event("BOOKMARK", "", 9)
		if err := door.Release("", "configmaps", tt.merged); err != nil {
			t.Fatal(err)
		}
		if got := next(t, w, len(tt.want)); !slices.Equal(got, tt.want) {
			t.Errorf("merged %t: %q, want %q", tt.merged, got, tt.want)
		}
		if err := door.Cut("", "configmaps"); err != nil {
			t.Fatal(err)
		}
		for w.Scan() {
		}
		if w.Err() != nil {
			t.Errorf("the watch did not end as a server ends it: %v", w.Err())
		}
	}
}

// TestPark: a process behind a parked door meets what was there before, and nothing else, until its turn comes.
func TestPark(t *testing.T) {
	s, door, client := inspected(t, func(id types.UID) bool { return id == "id-old" })
	w := watching(t, door, client, "&sendInitialEvents=true")
	for _, e := range []string{event("ADDED", "old", 1), event("ADDED", "new", 2), event("BOOKMARK", "", 3, synced), event("MODIFIED", "old", 4), event("BOOKMARK", "", 5)} {
		s.events <- e
	}
	if got, want := next(t, w, 2), []string{"ADDED old 1", "BOOKMARK  3"}; !slices.Equal(got, want) {
		t.Errorf("parked: %q, want %q", got, want)
	}
	if status, _, err := send(t, client, http.MethodGet, door.Server()+"/version", ""); status != http.StatusOK || err != nil {
		t.Errorf("discovery: %d %v", status, err)
	}
	done := make(chan int)
	go func() {
		status, _, _ := send(t, client, http.MethodPost, door.Server()+configMaps, one)
		done <- status
	}()
	if s.written.Load() != 0 {
		t.Error("a parked door lets a write in")
	}
	if err := door.Activate(); err != nil {
		t.Fatal(err)
	}
	if got, want := next(t, w, 2), []string{"ADDED new 2", "MODIFIED old 4"}; !slices.Equal(got, want) {
		t.Errorf("active: %q, want %q", got, want)
	}
	if status := <-done; status != http.StatusCreated {
		t.Error(status)
	}
}

// TestPast: a process that takes any state is shown the past, of the resources that are named, until the door is
// activated; what it asks for as it is now is so.
func TestPast(t *testing.T) {
	s := &server{events: make(chan string)}
	var asked []string
	door, client := through(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") == "" {
			asked = append(asked, r.URL.RawQuery)
		}
		s.ServeHTTP(w, r)
	}, &frontdoor.Inspection{Revision: s.written.Load, Past: 7, PastOf: []string{"/configmaps"}})
	ask := func(path string) {
		t.Helper()
		if status, _, err := send(t, client, http.MethodGet, door.Server()+path, ""); status != http.StatusOK || err != nil {
			t.Fatal(status, err)
		}
	}
	ask(configMaps + "?limit=500&resourceVersion=0")
	ask(configMaps)
	ask("/api/v1/namespaces/default/secrets?resourceVersion=0")
	w := watching(t, door, client, "&resourceVersion=7")
	s.events <- event("MODIFIED", "a", 8)
	s.events <- event("DELETED", "a", 9)
	s.events <- event("BOOKMARK", "", 9) // has come once the ones before are held
	if err := door.Activate(); err != nil {
		t.Fatal(err)
	}
	if got, want := next(t, w, 2), []string{"MODIFIED a 8", "DELETED a 9"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	ask(configMaps + "?resourceVersion=0")
	if want := []string{"limit=500&resourceVersion=7&resourceVersionMatch=Exact", "", "resourceVersion=0", "resourceVersion=0"}; !slices.Equal(asked, want) {
		t.Errorf("%q, want %q", asked, want)
	}
}

// TestHeldBytes: a watch whose client is kept from it for long ends, as one of a client that is too slow; behind a
// parked door many changes of an object are one.
func TestHeldBytes(t *testing.T) {
	large := func(revision int) string {
		return event("MODIFIED", "old", revision, fmt.Sprintf("%q:%q", "data", strings.Repeat("x", 1<<20)))
	}
	s, door, client := inspected(t, nil)
	w := watching(t, door, client, "")
	if err := door.Hold("", "configmaps"); err != nil {
		t.Fatal(err)
	}
	go func() {
		for i := range 33 {
			select {
			case s.events <- large(i):
			case <-t.Context().Done():
				return
			}
		}
	}()
	if w.Scan() || w.Err() != nil {
		t.Errorf("a watch from which so much is held goes on: %v", w.Err())
	}
	s, door, client = inspected(t, func(id types.UID) bool { return id == "id-old" })
	w = watching(t, door, client, "")
	w.Buffer(nil, 1<<22)
	for i := range 40 {
		s.events <- large(i)
	}
	s.events <- event("BOOKMARK", "", 40) // has come once the ones before are held
	if err := door.Activate(); err != nil {
		t.Fatal(err)
	}
	if got := next(t, w, 1); !slices.Equal(got, []string{"MODIFIED old 39"}) {
		t.Errorf("%q, want the last change", got)
	}
}
