package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/web"
)

// policy is the Content-Security-Policy with which the page is served.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// A cluster answers the page as internal/explain/dashboard does, without a cluster.
type cluster struct {
	*httptest.Server

	mu         sync.Mutex
	token, key string
	objects    []object
	down       bool
	broken     chan struct{} // closed to end all streams
	live       map[chan any]string
	seq        int
	sessions   int // how many were opened
}

// newCluster starts a server with a page that can be opened once.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{token: "a-token", key: "a-key", objects: objects(), broken: make(chan struct{}), live: map[chan any]string{}, seq: recorded}
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServerFS(web.Files()))
	mux.HandleFunc("POST /api/session", c.session)
	mux.HandleFunc("GET /api/objects", c.streamObjects)
	mux.HandleFunc("GET /api/follow", func(w http.ResponseWriter, r *http.Request) { c.stream(w, r, "entries", nil) })
	for path, answer := range map[string]func(url.Values) any{"cluster": about, "explain": c.explain, "record": c.record, "reconciles": reconciles, "reconcile": reconcile} {
		mux.HandleFunc("GET /api/"+path, func(w http.ResponseWriter, r *http.Request) { reply(w, http.StatusOK, answer(r.URL.Query())) })
	}
	c.Server = httptest.NewServer(c.guard(mux))
	t.Cleanup(func() {
		c.interrupt(true)
		c.Close()
	})
	return c
}

// guard asks for the key, and hangs up while the server is to be down.
func (c *cluster) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		key, down := c.key, c.down
		c.mu.Unlock()
		if down {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Security-Policy", policy)
		if strings.HasPrefix(r.URL.Path, "/api/") && r.URL.Path != "/api/session" && r.Header.Get("Authorization") != "Bearer "+key {
			reply(w, http.StatusUnauthorized, map[string]string{"error": "the session has ended", "next": "slipway explain --web"})
			return
		}
		next.ServeHTTP(w, r)
	})
}

func reply(w http.ResponseWriter, status int, answer any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer)
}

func (c *cluster) session(w http.ResponseWriter, r *http.Request) {
	var body struct{ Token string }
	err := json.NewDecoder(r.Body).Decode(&body)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil || c.token == "" || body.Token != c.token {
		reply(w, http.StatusForbidden, map[string]string{"error": "the address has been used already", "next": "slipway explain --web"})
		return
	}
	c.token = ""
	c.sessions++
	reply(w, http.StatusOK, map[string]string{"key": c.key})
}

// endSession makes the key invalid.
func (c *cluster) endSession() {
	c.mu.Lock()
	c.key = "another"
	c.mu.Unlock()
	c.interrupt(false)
}

// interrupt ends all streams. While the server is down, it answers nothing.
func (c *cluster) interrupt(down bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.down = down
	close(c.broken)
	c.broken = make(chan struct{})
}

func (c *cluster) streamObjects(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	all := slices.Clone(c.objects)
	c.mu.Unlock()
	c.stream(w, r, "objects", func(send func(any)) {
		send(map[string][]string{"unknown": {"secrets: the user of the kubeconfig may not list and watch it everywhere"}})
		for part := range slices.Chunk(all, 500) {
			send(map[string]any{"objects": part})
		}
		send(map[string]bool{"synced": true})
	})
}

// stream sends lines until the client leaves or the streams are broken.
func (c *cluster) stream(w http.ResponseWriter, r *http.Request, sort string, first func(send func(any))) {
	lines := make(chan any, 1000)
	c.mu.Lock()
	c.live[lines] = sort
	broken := c.broken
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.live, lines)
		c.mu.Unlock()
	}()
	w.Header().Set("Content-Type", "application/x-ndjson")
	send := func(line any) {
		_ = json.NewEncoder(w).Encode(line)
		w.(http.Flusher).Flush()
	}
	send(struct{}{})
	if first != nil {
		first(send)
	}
	beat := time.NewTicker(15 * time.Second)
	defer beat.Stop()
	for {
		select {
		case line := <-lines:
			send(line)
		case <-beat.C:
			send(struct{}{})
		case <-broken:
			return
		case <-r.Context().Done():
			return
		}
	}
}

// send sends a line to all streams of a sort.
func (c *cluster) send(sort string, line any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for lines, s := range c.live {
		if s == sort {
			lines <- line
		}
	}
}

// streams is how many are open.
func (c *cluster) streams() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.live)
}

// change stores objects, and sends them.
func (c *cluster) change(changed ...object) {
	c.mu.Lock()
	for _, o := range changed {
		if i := slices.IndexFunc(c.objects, func(old object) bool { return old.UID == o.UID }); i >= 0 {
			c.objects[i] = o
		} else {
			c.objects = append(c.objects, o)
		}
	}
	c.mu.Unlock()
	c.send("objects", map[string]any{"objects": changed})
}

// remove deletes an object.
func (c *cluster) remove(uid string) {
	c.mu.Lock()
	c.objects = slices.DeleteFunc(c.objects, func(o object) bool { return o.UID == uid })
	c.mu.Unlock()
	c.send("objects", map[string]any{"gone": []string{uid}})
}

// happen records an entry.
func (c *cluster) happen(e entry) {
	c.mu.Lock()
	c.seq++
	e["seq"], e["at"] = c.seq, time.Now()
	c.mu.Unlock()
	c.send("entries", map[string]any{"entries": []entry{e}})
}

func about(url.Values) any {
	return map[string]any{"context": "slipway-default", "server": "https://127.0.0.1:6443", "version": "v1.37.1", "recorded": true}
}

func (c *cluster) explain(q url.Values) any {
	ref := func(kind, name string) entry {
		return entry{"kind": kind, "namespace": q.Get("namespace"), "name": name}
	}
	name := q.Get("name")
	state, causes := "ready", []entry{}
	if q.Get("namespace") == "hostile" || name == "order-3" {
		text := "container app: the container ended with exit code 3; restarts: 4"
		if name != "order-3" {
			text = hostileText
		}
		state = "not-ready"
		causes = append(causes, entry{"object": ref("Pod", name+"-7fbf8fd88f-000c0"), "reason": "CrashLoopBackOff", "message": text, "container": "app",
			"next": "slipway kubectl logs --previous -c app -n " + q.Get("namespace") + " " + name + "-7fbf8fd88f-000c0", "log": []string{"starting v1.4.1", "cannot open /etc/web/config.yaml: no such file or directory", "exit 3"}},
			entry{"object": ref("Order", name), "reason": "Available", "message": "1 of 3 instances are available"})
	}
	tree := []entry{{"object": ref("Order", name), "state": state, "text": "Available: 1/3", "depth": 0}, {"object": ref("Deployment", name), "state": state, "text": "Available: 1/3", "depth": 1}, {"object": ref("ReplicaSet", name+"-7fbf8fd88f"), "state": state, "depth": 2}}
	for i := range 3 {
		tree = append(tree, entry{"object": ref("Pod", fmt.Sprintf("%s-7fbf8fd88f-%05x", name, 3*64+i)), "state": map[bool]string{true: state, false: "ready"}[i == 0], "depth": 3})
	}
	tree = append(tree, entry{"object": ref("Service", name), "state": "ready", "depth": 1}, entry{"object": ref("ConfigMap", name+"-settings"), "state": "ready", "depth": 1})
	return entry{"object": ref("Order", name), "resource": q.Get("resource"), "state": state, "causes": causes, "tree": tree, "changes": []entry{}, "unknown": []string{},
		"references": []entry{{"object": ref("Secret", name+"-credentials"), "by": ref("Pod", name+"-7fbf8fd88f-000c0"), "field": ".spec.volumes[name=credentials].secret"}, {"object": ref("ConfigMap", "missing-settings"), "by": ref("Deployment", name), "field": ".spec.template.spec.containers[name=app].envFrom", "missing": true}}}
}

func (c *cluster) record(q url.Values) any {
	limit, _ := strconv.Atoi(q.Get("limit"))
	from := recorded + 1
	if before, err := strconv.Atoi(q.Get("before")); err == nil {
		from = before
	}
	kinds := strings.Split(q.Get("kinds"), ",")
	found := []entry{}
	seq := from - 1
	for ; seq > 0 && len(found) < limit; seq-- {
		e := entryAt(seq)
		if q.Get("kinds") != "" && !slices.Contains(kinds, e["kind"].(string)) {
			continue
		}
		if q.Get("refused") != "" && e["kind"] != "refusal" {
			continue
		}
		if name := q.Get("name"); name != "" && seq%5 != 0 {
			continue
		}
		found = append(found, e)
	}
	return map[string]any{"entries": found, "next": max(seq, 0), "searchedTo": began}
}
