package kubeconfig_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/slipway-dev/slipway/cluster/kubeconfig"
	"github.com/slipway-dev/slipway/cluster/pki"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	keys, err := pki.Ensure(filepath.Join(dir, "pki"), "demo")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := kubeconfig.Write(path, "demo", "https://127.0.0.1:1", keys); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.LoadFromFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if config.CurrentContext != "slipway-demo" || config.Clusters["slipway-demo"].Server != "https://127.0.0.1:1" {
		t.Errorf("got %+v", config)
	}
	if err := clientcmd.ConfirmUsable(*config, ""); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// TestWriteToken: the file has the token and the namespace, and no certificate of a client.
func TestWriteToken(t *testing.T) {
	dir := t.TempDir()
	keys, err := pki.Ensure(filepath.Join(dir, "pki"), "demo")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "kubeconfig")
	if err := kubeconfig.WriteToken(path, "demo", "https://127.0.0.1:1", "shop", "secret", keys); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.LoadFromFile(path)
	if err != nil {
		t.Fatal(err)
	}
	user := config.AuthInfos["slipway-demo"]
	if user.Token != "secret" || len(user.ClientCertificateData) > 0 || config.Contexts["slipway-demo"].Namespace != "shop" {
		t.Errorf("got %+v, %+v", user, config.Contexts)
	}
	if err := clientcmd.ConfirmUsable(*config, ""); err != nil {
		t.Error(err)
	}
}

// A failure leaves the old file and nothing beside it.
func TestFailureChangesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := kubeconfig.Write(path, "demo", "https://127.0.0.1:1", pki.In(dir)); err == nil {
		t.Error("no error without keys")
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "old" || len(entries) != 1 {
		t.Errorf("%q, %v, %d files", data, err, len(entries))
	}
}
