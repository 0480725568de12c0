package dashboard

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/slipway-dev/slipway/internal/explain"
	"github.com/slipway-dev/slipway/internal/protocol"
)

// past is a record of one entry, to which what comes is added.
type past struct{ coming chan protocol.RecordEntry }

func (p past) Record(_ context.Context, q protocol.RecordQuery) (page protocol.RecordPage, err error) {
	if q.Reconcile == "" && q.Object == nil {
		page.Entries = []protocol.RecordEntry{{Seq: 1, At: time.Now(), Kind: protocol.RecordMarker, Type: "began"}}
	}
	return page, nil
}

func (p past) FollowRecord(ctx context.Context, _ protocol.RecordQuery, each func(protocol.RecordEntry) error) error {
	for {
		select {
		case e := <-p.coming:
			if err := each(e); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// serve serves a page until the test ends. All that it has begun must end then.
func serve(t *testing.T, record Record) *Server {
	t.Helper()
	s, err := New(fstest.MapFS{"index.html": {Data: []byte("<title>page</title>")}}, Subject{Record: record, About: About{Context: "default"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error)
	go func() { served <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return s
}

// ask makes a request and returns its status and answer.
func ask(t *testing.T, method, url, body string, head ...string) (int, string, http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(head); i += 2 {
		if r.Header.Set(head[i], head[i+1]); head[i] == "Host" {
			r.Host = head[i+1]
		}
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text), answer.Header
}

// open spends the token of a server.
func open(t *testing.T, s *Server) (key string) {
	t.Helper()
	_, token, _ := strings.Cut(s.Link("/"), "token=")
	status, text, _ := ask(t, "POST", "http://"+s.host+"/api/session", fmt.Sprintf(`{"token":%q}`, token))
	var given struct{ Key string }
	if err := json.Unmarshal([]byte(text), &given); err != nil || status != http.StatusOK || given.Key == "" {
		t.Fatal(status, text)
	}
	return given.Key
}

// TestGuard: only who has the link may ask, once, and only the page itself.
func TestGuard(t *testing.T) {
	s := serve(t, nil)
	base := "http://" + s.host
	_, token, _ := strings.Cut(s.Link("/"), "token=")
	wrong := `{"token":"` + strings.Repeat("A", len(token)) + `"}`
	if status, _, _ := ask(t, "POST", base+"/api/session", wrong); status != http.StatusForbidden {
		t.Error("a wrong token:", status)
	}
	if status, _, _ := ask(t, "POST", base+"/api/session", `{"token":"`+strings.Repeat("A", 1<<20)); status != http.StatusBadRequest {
		t.Error("a long token:", status)
	}
	if status, _, _ := ask(t, "GET", base+"/api/cluster", "", "Authorization", "Bearer "); status != http.StatusUnauthorized {
		t.Error("an empty key before the session:", status)
	}
	key := open(t, s)
	if status, _, _ := ask(t, "POST", base+"/api/session", `{"token":""}`); status != http.StatusForbidden {
		t.Error("no token:", status)
	}
	if status, text, _ := ask(t, "POST", base+"/api/session", fmt.Sprintf(`{"token":%q}`, token)); status != http.StatusForbidden || !strings.Contains(text, "slipway explain --web") {
		t.Error("a token of a link before:", status, text)
	}
	if open(t, s) != key {
		t.Error("another link ends the session")
	}
	for name, c := range map[string]struct {
		head []string
		want int
	}{
		"the key":         {[]string{"Authorization", "Bearer " + key}, http.StatusOK},
		"none":            {nil, http.StatusUnauthorized},
		"another key":     {[]string{"Authorization", "Bearer " + token}, http.StatusUnauthorized},
		"another name":    {[]string{"Authorization", "Bearer " + key, "Host", "localhost" + s.host[strings.Index(s.host, ":"):]}, http.StatusForbidden},
		"another origin":  {[]string{"Authorization", "Bearer " + key, "Origin", "http://127.0.0.1:1"}, http.StatusForbidden},
		"another site":    {[]string{"Authorization", "Bearer " + key, "Sec-Fetch-Site", "same-site"}, http.StatusForbidden},
		"the page itself": {[]string{"Authorization", "Bearer " + key, "Sec-Fetch-Site", "same-origin", "Origin", base}, http.StatusOK},
	} {
		if status, text, _ := ask(t, "GET", base+"/api/cluster", "", c.head...); status != c.want {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
	status, text, head := ask(t, "GET", base+"/", "")
	if status != http.StatusOK || !strings.Contains(text, "<title>page") || !strings.HasPrefix(head.Get("Content-Security-Policy"), "default-src 'none'") || head.Get("Access-Control-Allow-Origin") != "" {
		t.Error(status, text, head)
	}
	if status, text, _ := ask(t, "GET", base+"/api/reconciles", "", "Authorization", "Bearer "+key); status != http.StatusNotFound || !strings.Contains(text, "keeps no record") {
		t.Error("reconciles without a record:", status, text)
	}
}

// TestRecord: the record is asked, and followed until the browser leaves.
func TestRecord(t *testing.T) {
	record := past{make(chan protocol.RecordEntry)}
	s := serve(t, record)
	key := open(t, s)
	authorized := []string{"Authorization", "Bearer " + key}
	if status, text, _ := ask(t, "GET", "http://"+s.host+"/api/record?limit=5&before=9", "", authorized...); status != http.StatusOK || !strings.Contains(text, `"type":"began"`) {
		t.Error(status, text)
	}
	if status, _, _ := ask(t, "GET", "http://"+s.host+"/api/record?before=x", "", authorized...); status != http.StatusBadRequest {
		t.Error(status)
	}
	if status, _, _ := ask(t, "GET", "http://"+s.host+"/api/reconcile?id=x", "", authorized...); status != http.StatusNotFound {
		t.Error(status)
	}
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "GET", "http://"+s.host+"/api/follow", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	lines.Scan() // says that the stream is open
	record.coming <- protocol.RecordEntry{Seq: 7, Kind: protocol.RecordLine, Message: "<b>"}
	if lines.Scan(); !strings.Contains(lines.Text(), `"seq":7`) {
		t.Error(lines.Text())
	}
	leave()
}

// TestShow: who looks at the page sees another subject, with the same key, and streams about the one before end.
func TestShow(t *testing.T) {
	s := serve(t, past{make(chan protocol.RecordEntry)})
	authorized := []string{"Authorization", "Bearer " + open(t, s)}
	followed := make(chan string)
	go func() {
		_, text, _ := ask(t, "GET", "http://"+s.host+"/api/follow", "", authorized...)
		followed <- text
	}()
	for len(s.streams) == 0 {
		runtime.Gosched()
	}
	s.Show(Subject{About: About{Context: "another"}})
	if text := <-followed; text != "{}\n" {
		t.Errorf("the stream brought %q", text)
	}
	if status, text, _ := ask(t, "GET", "http://"+s.host+"/api/cluster", "", authorized...); status != http.StatusOK || !strings.Contains(text, "another") {
		t.Error(status, text)
	}
}

// TestStreams: there are not more streams than may be open, and each that ends makes room.
func TestStreams(t *testing.T) {
	s := &Server{streams: make(chan struct{}, 1)}
	s.streams <- struct{}{}
	w := &recorder{}
	if _, ok := s.open(w); ok || w.status != http.StatusTooManyRequests {
		t.Error("a second stream is open:", w.status)
	}
	if s.closeStream(); len(s.streams) != 0 {
		t.Error("no room was made")
	}
}

type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) Header() http.Header            { return http.Header{} }
func (r *recorder) WriteHeader(status int)         { r.status = status }
func (r *recorder) Write(text []byte) (int, error) { return len(text), nil }

// TestView: a browser gets all objects, then what changes, once; one that has fallen behind begins anew. What is under
// way of a kind that has gone does not come back.
func TestView(t *testing.T) {
	o := newObjects(nil)
	w := &watched{synced: func() bool { return true }}
	o.kinds[w.GroupVersionResource] = w
	put := func(uid, name string) {
		o.put(w, &seen{object: Object{UID: uid, Name: name, State: explain.Ready}})
	}
	put("1", "a")
	put("2", "b")
	v := o.view()
	summary := func() (text string) {
		for {
			line, is, _, ok := v.next()
			switch {
			case !ok:
				return "behind"
			case !is:
				return text
			}
			text += fmt.Sprint(len(line.Objects), line.Gone)
			if line.Unknown != nil {
				text += fmt.Sprint(*line.Unknown)
			}
			if line.Synced {
				text += "synced"
			}
			text += ";"
		}
	}
	if got := summary(); got != "2 [];" {
		t.Error(got)
	}
	put("1", "c")
	put("1", "d")
	o.drop(w, &seen{object: Object{UID: "2"}})
	w.failed = true
	o.cannot("", "no")
	o.cannot("", "no")
	if got := summary(); got != "1 [2];0 [][: no];" {
		t.Error(got)
	}
	if done := o.settle(); !done { // the kind can be read by now
		t.Error("something is left to wait for")
	}
	if got := summary(); got != "0 [][];0 []synced;" {
		t.Error(got)
	}
	if got := summary(); got != "" {
		t.Error(got)
	}
	for range shortLog + 1 {
		put("1", "e")
	}
	if got := summary(); got != "behind" {
		t.Error(got)
	}
	v = o.view()
	delete(o.kinds, w.GroupVersionResource)
	put("3", "f")
	if got := summary(); got != "1 [];0 [][];0 []synced;" || len(o.all) != 1 {
		t.Error(got, o.all)
	}
}
