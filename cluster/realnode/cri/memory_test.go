package cri

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// sharer has a file stand for memory that is there.
type sharer struct{ Starter }

func (sharer) ShareMemory(dir string) error {
	return os.WriteFile(filepath.Join(dir, "there"), nil, 0o600)
}

func (sharer) ReleaseMemory(dir string) error { return os.Remove(filepath.Join(dir, "there")) }

// TestPodSharesMemory: a pod's containers find its memory until the pod is stopped, once; nothing of it is left.
func TestPodSharesMemory(t *testing.T) {
	r := &Runtime{options: Options{Dir: t.TempDir(), Starter: sharer{}}, sandboxes: map[string]*sandbox{}}
	onNode := &runtimeapi.LinuxPodSandboxConfig{SecurityContext: &runtimeapi.LinuxSandboxSecurityContext{
		NamespaceOptions: &runtimeapi.NamespaceOption{Network: runtimeapi.NamespaceMode_NODE, Pid: runtimeapi.NamespaceMode_CONTAINER},
	}}
	id, err := r.RunPodSandbox(t.Context(), &runtimeapi.PodSandboxConfig{Linux: onNode}, "")
	if err != nil {
		t.Fatal(err)
	}
	s := r.sandboxes[id]
	there := func() bool {
		_, err := os.Stat(filepath.Join(s.dir, memoryFolder, "there"))
		return err == nil
	}
	want := wire.Mount{Source: filepath.Join(s.dir, memoryFolder), Target: "/dev/shm"}
	if !there() || !slices.Contains(s.files(), want) {
		t.Errorf("the pod's containers find %+v", s.files())
	}
	for range 2 {
		if err := r.StopPodSandbox(t.Context(), id); err != nil || there() {
			t.Errorf("stopped, it is there: %t, %v", there(), err)
		}
	}
	if err := r.RemovePodSandbox(t.Context(), id); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(s.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the pod's folder: %v", err)
	}
}
