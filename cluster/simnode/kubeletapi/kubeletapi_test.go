package kubeletapi_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-dev/slipway/cluster/pki"
	"github.com/slipway-dev/slipway/cluster/simnode/kubeletapi"
)

func TestKubeletSaysWhatIsNotThere(t *testing.T) {
	keys, err := pki.Ensure(t.TempDir(), "test")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	client := clientOf(kubeletapi.New(ctx, keys.Server, keys.ServerKey))
	for path, want := range map[string]string{
		"/containerLogs/ns/p/main": "pod ns/p is simulated: no process runs in container main, so it has no logs",
		"/exec/ns/p/main":          "it cannot run a command",
		"/exec/ns/p/uid/main":      "it cannot run a command",
		"/attach/ns/p/main":        "it has no process to attach to",
		"/portForward/ns/p":        "pod ns/p is simulated: no process runs in it, so its ports cannot be forwarded",
		"/stats/summary":           "it has no /stats/summary",
	} {
		code, text := ask(t, client, path)
		if !strings.Contains(text, want) || code < 400 || code > 499 {
			t.Errorf("%s: %d %q, want %q", path, code, text, want)
		}
	}
	if code, text := ask(t, client, "/healthz"); code != http.StatusOK || text != "ok" {
		t.Errorf("/healthz: %d %q", code, text)
	}
	cancel()
	client.CloseIdleConnections()
}

func clientOf(server *kubeletapi.Server) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext:     func(ctx context.Context, _, _ string) (net.Conn, error) { return server.Dial(ctx) },
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}}
}

// ask returns the text of an answer, or the message of the Status in it.
func ask(t *testing.T, client *http.Client, path string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://10.127.0.1:10250"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	var status metav1.Status
	if json.Unmarshal(body, &status) == nil {
		return answer.StatusCode, status.Message
	}
	return answer.StatusCode, string(body)
}

func TestKubeletWithoutCertificate(t *testing.T) {
	if _, err := kubeletapi.New(t.Context(), "nowhere", "nowhere").Dial(t.Context()); err == nil {
		t.Error("connected")
	}
}
