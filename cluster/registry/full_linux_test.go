package registry_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/cluster/registry"
)

func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skip("a small disk cannot be mounted here:", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	r := start(t, registry.Options{Dir: dir + "/registry", Durable: true})
	large := bytes.Repeat([]byte("large"), 1<<18)
	upload := "http://" + r.Address() + "/v2/op/blobs/uploads/?digest="
	if status, _ := request(t, "POST", upload+sha(large), bytes.NewReader(large)); status != http.StatusInsufficientStorage {
		t.Error("status", status)
	}
	_, location := request(t, "POST", "http://"+r.Address()+"/v2/op/blobs/uploads/", nil)
	if status, _ := request(t, "PATCH", "http://"+r.Address()+location, bytes.NewReader(large)); status != http.StatusInsufficientStorage {
		t.Error("a piece: status", status)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "registry", "uploads")); len(left) > 0 {
		t.Error("left over:", left, err)
	}
	small := []byte("small")
	if status, _ := request(t, "POST", upload+sha(small), bytes.NewReader(small)); status != http.StatusCreated {
		t.Error("there is room again: status", status)
	}
}
