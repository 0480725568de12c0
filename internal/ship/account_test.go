package ship

import (
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/slipway-dev/slipway/internal/report"
)

// TestKubeconfigWith: the kubeconfig of an account reaches the cluster in the way that the user's does.
func TestKubeconfigWith(t *testing.T) {
	for name, cluster := range map[string]string{
		"plain":    `{server: "https://127.0.0.1:1"}`,
		"proxy":    `{server: "https://127.0.0.1:1", proxy-url: "http://user:secret@127.0.0.1:2", tls-server-name: there.example.com, disable-compression: true}`,
		"insecure": `{server: "https://127.0.0.1:1", insecure-skip-tls-verify: true}`,
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "config")
			text := "apiVersion: v1\nkind: Config\ncurrent-context: one\nclusters: [{name: one, cluster: " + cluster + "}]\ncontexts: [{name: one, context: {cluster: one, namespace: there}}]\n"
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			c, err := Connect(Kubeconfig{Path: file}, report.Discard)
			if err != nil {
				t.Fatal(err)
			}
			written, err := c.KubeconfigWith("/token")
			if err != nil {
				t.Fatal(err)
			}
			wanted, err := clientcmd.LoadFromFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, err := clientcmd.Load(written)
			if err != nil {
				t.Fatal(err)
			}
			want := *wanted.Clusters["one"]
			want.LocationOfOrigin = ""
			if has := *got.Clusters["slipway"]; has.Server != want.Server || has.ProxyURL != want.ProxyURL || has.TLSServerName != want.TLSServerName ||
				has.InsecureSkipTLSVerify != want.InsecureSkipTLSVerify || has.DisableCompression != want.DisableCompression {
				t.Errorf("got %+v, want %+v", has, want)
			}
			if token := got.AuthInfos["slipway"].TokenFile; token != "/token" {
				t.Errorf("token file %s", token)
			}
		})
	}
}
