package apiserver

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"

	"github.com/slipway-dev/slipway/cluster/etcd"
	"github.com/slipway-dev/slipway/cluster/inprocess"
	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
	"github.com/slipway-dev/slipway/cluster/pki"
	"github.com/slipway-dev/slipway/cluster/seed"
)

// bed is an etcd with the keys of a cluster, on which servers stand.
type bed struct {
	dir   string
	store *etcd.Server
	keys  pki.Files
	// main is the server that most tests ask; its life ends with the program's.
	main *running
}

// running is a server that is ready.
type running struct {
	*Server
	address string
	large   atomic.Int32  // how often it was told of a large object
	stop    func()        // has it end
	ended   chan struct{} // closed then
	err     error         // with which it ended
}

// shared is made by the first test that needs a server, and is all that the others need.
var shared struct {
	once sync.Once
	bed  *bed
	err  error
}

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	defer func() {
		if shared.bed != nil {
			shared.bed.close()
		}
	}()
	return m.Run()
}

// theBed is the one for all tests.
func theBed(t *testing.T) *bed {
	t.Helper()
	shared.once.Do(func() { shared.bed, shared.err = newBed() })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.bed
}

// theServer is the one that most tests ask.
func theServer(t *testing.T) *running { t.Helper(); return theBed(t).main }

func newBed() (*bed, error) {
	dir, err := os.MkdirTemp("", "apiserver-")
	if err != nil {
		return nil, err
	}
	b := &bed{dir: dir}
	ctx, cancel := context.WithTimeout(context.Background(), testlimit.Hang)
	defer cancel()
	if b.store, err = etcd.Start(ctx, etcd.Config{Dir: filepath.Join(dir, "etcd"), Log: slog.New(slog.DiscardHandler)}); err != nil {
		return b, err
	}
	if b.keys, err = pki.Ensure(filepath.Join(dir, "pki"), "test"); err != nil {
		return b, err
	}
	b.main, err = b.start(ctx, "/registry", func(*Options) {})
	return b, err
}

func (b *bed) close() {
	if b.main != nil {
		b.main.stop()
		<-b.main.ended
	}
	if b.store != nil {
		b.store.Stop()
	}
	_ = os.RemoveAll(b.dir)
}

// start starts a server below a prefix of the store, and returns when it is ready.
func (b *bed) start(ctx context.Context, prefix string, change func(*Options)) (*running, error) {
	recorded, err := seed.Load()
	if err != nil {
		return nil, err
	}
	if err := recorded.Write(ctx, b.store, prefix); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &running{address: listener.Addr().String(), ended: make(chan struct{})}
	o := Options{
		Dir: b.dir, Listener: listener, Etcd: b.store, EtcdPrefix: prefix, Keys: b.keys, Seeded: true, Large: func() { r.large.Add(1) },
	}
	change(&o)
	life, stop := context.WithCancel(context.Background())
	r.stop = stop
	if r.Server, err = New(life, o); err != nil {
		stop()
		return nil, errors.Join(err, listener.Close())
	}
	go func() {
		defer close(r.ended)
		r.err = r.Run(life)
	}()
	return r, r.WaitReady(ctx)
}

// fresh is a name that no test had before: the server is shared, also by runs of the same test.
func fresh(name string) string { return fmt.Sprint(name, "-", names.Add(1)) }

var names atomic.Int64

// client has all rights.
func (r *running) client(t *testing.T) kubernetes.Interface {
	t.Helper()
	c, err := kubernetes.NewForConfig(r.Loopback())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// get asks over a connection, with nothing that says on whose behalf.
func (r *running) get(t *testing.T, b *bed, path string) (status int, body string) {
	t.Helper()
	ca, err := os.ReadFile(b.keys.CA)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+r.address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// TestLoopbackHasAllRights: those in this process are the administrators' group, and meet no limits.
func TestLoopbackHasAllRights(t *testing.T) {
	s := theServer(t)
	review, err := s.client(t).AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if groups := review.Status.UserInfo.Groups; !slices.Contains(groups, "system:masters") {
		t.Errorf("groups %q", groups)
	}
	if c := s.Loopback(); c.QPS >= 0 {
		t.Errorf("%v requests a second at most", c.QPS)
	}
	one := s.Loopback()
	one.BearerToken = "changed"
	if s.Loopback().BearerToken == "changed" {
		t.Error("two clients share their configuration")
	}
}

// TestStrangersSeeHealthAlone: who says nothing of himself may ask how the server is, and nothing else.
func TestStrangersSeeHealthAlone(t *testing.T) {
	b := theBed(t)
	for path, want := range map[string]int{
		"/readyz": http.StatusOK, "/livez": http.StatusOK, "/healthz": http.StatusOK,
		"/api": http.StatusUnauthorized, "/version": http.StatusUnauthorized, "/openapi/v3": http.StatusUnauthorized,
		"/api/v1/namespaces/kube-system/secrets": http.StatusUnauthorized,
	} {
		if status, body := b.main.get(t, b, path); status != want {
			t.Errorf("%s: status %d, want %d: %s", path, status, want, body)
		}
	}
}

// TestKnown: what the server follows by itself is told with its revision, so that a reset can wait for it.
func TestKnown(t *testing.T) {
	s := theServer(t)
	namespaces, name := s.client(t).CoreV1().Namespaces(), fresh("known")
	made, err := namespaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the server knows its own namespace", func() (bool, string) {
		seen := s.Known().Revisions(schema.GroupResource{Resource: "namespaces"}, "", name)
		ok := len(seen) > 0 && !slices.ContainsFunc(seen, func(r int64) bool { return fmt.Sprint(r) != made.ResourceVersion })
		return ok, fmt.Sprintf("revisions %v of %s", seen, made.ResourceVersion)
	})
	if seen := s.Known().Revisions(schema.GroupResource{Group: "apiregistration.k8s.io", Resource: "apiservices"}, "", "v1.apps"); len(seen) != 1 || seen[0] == 0 {
		t.Errorf("the APIService of a built-in group: revisions %v", seen)
	}
}

// TestLargeObjectsAreTold: only what is large is told of, before it is handled.
func TestLargeObjectsAreTold(t *testing.T) {
	s := theServer(t)
	maps := s.client(t).CoreV1().ConfigMaps(metav1.NamespaceDefault)
	for name, size := range map[string]int{"small": 1000, "large": largeObject} {
		before := s.large.Load()
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fresh(name)}, Data: map[string]string{"a": strings.Repeat("a", size)}}
		if _, err := maps.Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if told := s.large.Load() - before; (told > 0) != (name == "large") {
			t.Errorf("%s: told %d times", name, told)
		}
	}
}

// TestEnd: a second server stands beside the first on the same etcd, with flags of its user. When it is told to end it
// ends without an error and lets go of what it was; the first goes on.
func TestEnd(t *testing.T) {
	b := theBed(t)
	ctx, cancel := context.WithTimeout(t.Context(), testlimit.Hang)
	defer cancel()
	s, err := b.start(ctx, "/logical/"+fresh("second"), func(o *Options) { o.Flags, o.Large = []string{"--anonymous-auth=false"}, nil })
	if err != nil {
		t.Fatal(err)
	}
	if status, _ := s.get(t, b, "/readyz"); status != http.StatusUnauthorized {
		t.Errorf("a stranger, whom the user's flags forbid: status %d", status)
	}
	client, name := s.client(t).CoreV1().Namespaces(), fresh("only-here")
	if _, err := client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.main.client(t).CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{}); err == nil {
		t.Error("the other server sees what this one has")
	}
	s.stop()
	select {
	case <-s.ended:
	case <-ctx.Done():
		t.Fatal("it does not end")
	}
	if s.err != nil {
		t.Errorf("it ended with %v", s.err)
	}
	if _, err := client.List(ctx, metav1.ListOptions{}); !errors.Is(err, inprocess.ErrClosed) {
		t.Errorf("a client in this process: %v", err)
	}
	if conn, err := net.Dial("tcp", s.address); err == nil {
		_ = conn.Close()
		t.Error("it still listens")
	}
	if s.front.behind.Load() != nil || s.front.handler.GoRestfulContainer != nil {
		t.Error("what has ended is still held")
	}
	if _, err := b.main.client(t).CoreV1().Namespaces().Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{}); err != nil {
		t.Errorf("the server beside it: %v", err)
	}
}

// TestWaitReadyGivesUp: who waits for a server that does not run hears why, and what it last answered.
func TestWaitReadyGivesUp(t *testing.T) {
	s := &Server{loopback: loopback("https://127.0.0.1:1", inprocess.New())} // its front has no handler
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the test's reason")
	time.AfterFunc(10*time.Millisecond, func() { cancel(cause) })
	if err := s.WaitReady(ctx); !errors.Is(err, cause) {
		t.Errorf("%v, want %v", err, cause)
	}
}

// eventually asks until the answer is yes; what is wrong is told when there is no time left.
func eventually(t *testing.T, what string, yes func() (ok bool, wrong string)) {
	t.Helper()
	limit := time.After(testlimit.Hang)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, wrong := yes()
		if ok {
			return
		}
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("%s: %s", what, wrong)
		}
	}
}
