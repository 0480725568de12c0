package impersonation_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/slipway-dev/slipway/internal/dev/impersonation"
)

const account = "system:serviceaccount:system:manager"

// entrance is a door, what a process knows of it, and its reports.
type entrance struct {
	door    *impersonation.Door
	config  *rest.Config
	client  *http.Client
	reports chan impersonation.Request
}

// enter opens a door as the ServiceAccount.
func enter(t *testing.T, config *rest.Config, user string) *entrance {
	t.Helper()
	e := &entrance{reports: make(chan impersonation.Request, 1000)}
	var err error
	e.door, err = impersonation.Open(t.Context(), impersonation.Options{Config: config, User: user, Namespace: "system",
		Report: func(r impersonation.Request) { e.reports <- r }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.door.Close() })
	if e.config, err = clientcmd.BuildConfigFromFlags("", e.door.Kubeconfig()); err != nil {
		t.Fatal(err)
	}
	if e.client, err = rest.HTTPClientFor(e.config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.client.CloseIdleConnections)
	return e
}

// do makes a request; headers are pairs of a name and a value.
func (e *entrance) do(t *testing.T, method, path string, body io.Reader, headers ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, e.config.Host+path, body)
	if err != nil {
		t.Fatal(err)
	}
	for pair := range slices.Chunk(headers, 2) {
		r.Header.Set(pair[0], pair[1])
	}
	answer, err := e.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	return answer
}

// status is an answer that has to be a refusal.
func status(t *testing.T, answer *http.Response) metav1.Status {
	t.Helper()
	var s metav1.Status
	if err := json.NewDecoder(answer.Body).Decode(&s); err != nil || s.Kind != "Status" || int(s.Code) != answer.StatusCode {
		t.Errorf("%d, %+v, %v", answer.StatusCode, s, err)
	}
	return s
}

// dial is a connection of HTTP/1.1 to the door, over which a request that asks for an upgrade has been sent.
func (e *entrance) dial(t *testing.T, path string, headers ...string) (*tls.Conn, *bufio.Reader) {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(e.config.CAData)
	conn, err := tls.Dial("tcp", strings.TrimPrefix(e.config.Host, "https://"), &tls.Config{RootCAs: roots})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	head := append([]string{"GET " + path + " HTTP/1.1", "Host: door", "Authorization: Bearer " + e.config.BearerToken, "Connection: Upgrade"}, headers...)
	fmt.Fprintf(conn, "%s\r\n\r\n", strings.Join(head, "\r\n"))
	return conn, bufio.NewReader(conn)
}

// serve is a cluster below a path, as those have that are reached by another server.
func serve(t *testing.T, handler http.HandlerFunc) *rest.Config {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return &rest.Config{Host: server.URL + "/clusters/one", BearerToken: "secret", TLSClientConfig: rest.TLSClientConfig{CAData: authority}}
}

// TestSentOn: a request arrives as it was made, but for whom it is from.
func TestSentOn(t *testing.T) {
	type arrived struct {
		uri, method, protocol, authorization, user, body, forwarded string
		groups                                                      []string
	}
	var got arrived
	config := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got = arrived{r.RequestURI, r.Method, r.Proto, r.Header.Get("Authorization"), r.Header.Get("Impersonate-User"), string(body), r.Header.Get("X-Forwarded-For"), r.Header["Impersonate-Group"]}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write(body)
	})
	e := enter(t, config, account)
	body := `{"metadata":{"name":"made","resourceVersion":"7"},"data":"` + strings.Repeat("x", 5<<20) + `"}`
	answer := e.do(t, http.MethodPost, "/api/v1/namespaces/a/configmaps?a=b;c&d=%2F", strings.NewReader(body))
	back, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusCreated || answer.ProtoMajor != 2 || string(back) != body {
		t.Errorf("%d, %s, %d bytes, %v", answer.StatusCode, answer.Proto, len(back), err)
	}
	if got.body != body {
		t.Errorf("%d bytes arrived", len(got.body))
	}
	got.body = ""
	want := arrived{uri: "/clusters/one/api/v1/namespaces/a/configmaps?a=b;c&d=%2F", method: "POST", protocol: "HTTP/2.0", authorization: "Bearer secret", user: account}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	r := <-e.reports
	if r.Latency <= 0 {
		t.Errorf("%+v", r)
	}
	r.Latency = 0
	if want := (impersonation.Request{User: account, Verb: "create", Version: "v1", Resource: "configmaps", Namespace: "a", Name: "made", Status: 201, ResourceVersion: "7"}); r != want {
		t.Errorf("%+v, want %+v", r, want)
	}
}

// TestRefused: what the door does not send on does not arrive.
func TestRefused(t *testing.T) {
	config := serve(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s %s arrived", r.Method, r.RequestURI) })
	e := enter(t, config, account)
	for _, tt := range []struct {
		path, header, value string
		want                int
	}{
		{"/api/v1/pods", "Authorization", "Bearer wrong", http.StatusUnauthorized},
		{"/api/v1/pods", "Authorization", "Basic " + e.config.BearerToken, http.StatusUnauthorized},
		{"/api/v1/pods", "Authorization", "Bearer", http.StatusUnauthorized},
		{"/api/v1/pods", "Impersonate-User", account, http.StatusForbidden},
		{"/api/v1/pods", "impersonate-group", "system:masters", http.StatusForbidden},
		{"/version", "Impersonate-Extra-a%2fb", "c", http.StatusForbidden},
		{"/api/../../two", "", "", http.StatusBadRequest},
		{"/%2e%2e/two", "", "", http.StatusBadRequest},
		{"/a%2f..%2f..%2f../two", "", "", http.StatusBadRequest},
	} {
		var headers []string
		if tt.header != "" {
			headers = []string{tt.header, tt.value}
		}
		s := status(t, e.do(t, http.MethodGet, tt.path, nil, headers...))
		if int(s.Code) != tt.want {
			t.Errorf("%+v: %+v", tt, s)
		}
		if tt.want == http.StatusUnauthorized {
			continue // it is not reported, so that the next report is of another one
		}
		if r := <-e.reports; r.Status != tt.want || r.User != account {
			t.Errorf("%+v: %+v", tt, r)
		}
	}
	_, from := e.dial(t, "/api/v1/pods", "Upgrade: h2c")
	answer, err := http.ReadResponse(from, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s := status(t, answer); s.Code != http.StatusBadRequest || !strings.Contains(s.Message, "h2c") {
		t.Errorf("an upgrade to HTTP/2: %+v", s)
	}
}

// TestNoIdentity: without a user, requests would be those of the kubeconfig's.
func TestNoIdentity(t *testing.T) {
	for _, o := range []impersonation.Options{
		{Config: &rest.Config{}},
		{Config: &rest.Config{Impersonate: rest.ImpersonationConfig{UserName: "other"}}, User: account},
	} {
		if _, err := impersonation.Open(t.Context(), o); !errors.Is(err, impersonation.ErrIdentity) {
			t.Error(err)
		}
	}
}

// TestNoCluster: a cluster that does not answer is seen as one that is not available now, and a broken answer as one.
func TestNoCluster(t *testing.T) {
	config := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "pods") {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, "{")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	e := enter(t, config, account)
	if s := status(t, e.do(t, http.MethodPost, "/api/v1/pods", strings.NewReader("{}"))); s.Code != http.StatusServiceUnavailable || s.Reason != metav1.StatusReasonServiceUnavailable {
		t.Errorf("%+v", s)
	}
	if r := <-e.reports; r.Status != http.StatusServiceUnavailable {
		t.Errorf("%+v", r)
	}
	if text, err := io.ReadAll(e.do(t, http.MethodGet, "/version", nil).Body); err == nil {
		t.Errorf("%q is a whole answer", text)
	}
	if r := <-e.reports; r.Status != http.StatusOK {
		t.Errorf("%+v", r)
	}
}

// TestClose: watches and upgraded connections end with the door, and nothing is left of it.
func TestClose(t *testing.T) {
	watched := make(chan struct{}, 2)
	config := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "" {
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			watched <- struct{}{}
			return
		}
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n")
		_, _ = io.Copy(conn, rw)
	})
	before := doorGoroutines()
	e := enter(t, config, account)
	watch := e.do(t, http.MethodGet, "/api/v1/pods?watch=true", nil)
	if r := <-e.reports; r.Verb != "watch" || r.Status != http.StatusOK {
		t.Errorf("%+v", r)
	}
	conn, from := e.dial(t, "/api/v1/namespaces/a/pods/p/exec", "Upgrade: SPDY/3.1")
	if answer, err := http.ReadResponse(from, nil); err != nil || answer.StatusCode != http.StatusSwitchingProtocols {
		t.Fatal(answer, err)
	}
	fmt.Fprintln(conn, "hello")
	if line, err := from.ReadString('\n'); err != nil || line != "hello\n" {
		t.Errorf("%q, %v", line, err)
	}
	if r := <-e.reports; r.Subresource != "exec" || r.Verb != "get" || r.Status != http.StatusSwitchingProtocols {
		t.Errorf("%+v", r)
	}
	if err := e.door.Close(); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadAll(watch.Body); err == nil {
		t.Error("the watch ends as if it were over")
	}
	<-watched
	if _, err := from.ReadByte(); err == nil {
		t.Error("the upgraded connection goes on")
	}
	if _, err := os.Stat(filepath.Dir(e.door.Kubeconfig())); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the kubeconfig's folder: %v", err)
	}
	e.client.CloseIdleConnections()
	for doorGoroutines() > before { // those of net/http end on their own, by their connections; go test has a time limit
		runtime.Gosched()
	}
	if len(e.reports) > 0 {
		t.Errorf("reported twice: %+v", <-e.reports)
	}
	if err := e.door.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
}

// doorGoroutines counts the goroutines that doors have begun, also by net/http and client-go.
func doorGoroutines() int {
	text := make([]byte, 4<<20)
	text = text[:runtime.Stack(text, true)]
	n := 0
	for one := range bytes.SplitSeq(text, []byte("\n\n")) {
		if bytes.Contains(one, []byte("impersonation.")) && !bytes.Contains(one, []byte("impersonation_test.")) || bytes.Contains(one, []byte("httputil.")) {
			n++
		}
	}
	return n
}

// TestKubeconfig: it is the user's alone, and has neither the kubeconfig's credentials nor the key of the certificate.
func TestKubeconfig(t *testing.T) {
	config := serve(t, func(http.ResponseWriter, *http.Request) {})
	e, other := enter(t, config, account), enter(t, config, account)
	if e.config.BearerToken == other.config.BearerToken || len(e.config.BearerToken) != 43 {
		t.Errorf("the token %q", e.config.BearerToken)
	}
	loaded, err := clientcmd.LoadFromFile(e.door.Kubeconfig())
	if err != nil || loaded.Contexts[loaded.CurrentContext].Namespace != "system" {
		t.Errorf("%+v, %v", loaded, err)
	}
	entries, err := os.ReadDir(filepath.Dir(e.door.Kubeconfig()))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		path := filepath.Join(filepath.Dir(e.door.Kubeconfig()), entry.Name())
		text, err := os.ReadFile(path)
		if err != nil || bytes.Contains(text, []byte("secret")) || bytes.Contains(text, []byte("PRIVATE KEY")) {
			t.Errorf("%s: %s, %v", path, text, err)
		}
	}
	if info, err := os.Stat(e.door.Kubeconfig()); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}
