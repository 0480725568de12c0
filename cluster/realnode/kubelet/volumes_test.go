package kubelet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/volume"

	"github.com/slipway-dev/slipway/cluster/realnode/preflight"
)

func ownSpec(uid types.UID) *volume.Spec {
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "v", UID: uid}}
	v.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: preflight.VolumeDriver, VolumeHandle: "../../elsewhere"}
	return volume.NewSpecFromPersistentVolume(v, false)
}

// TestOwnVolumes: a volume's folder is made once, for all users of a pod, and keeps what is in it.
func TestOwnVolumes(t *testing.T) {
	p := &ownVolumes{dir: t.TempDir()}
	const uid = "0f6e2a44-1111-4222-8333-0123456789ab"
	for range 2 {
		m, err := p.NewMounter(ownSpec(uid), nil)
		if err != nil {
			t.Fatal(err)
		}
		if want := filepath.Join(p.dir, uid); m.GetPath() != want {
			t.Errorf("the folder is %s, want %s", m.GetPath(), want)
		}
		group := int64(os.Getgid())
		if err := m.SetUp(volume.MounterArgs{FsGroup: &group}); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(m.GetPath())
		if err != nil || info.Mode()&0o777 != 0o777 || info.Mode()&os.ModeSetgid == 0 {
			t.Errorf("it is %v (%v)", info.Mode(), err)
		}
		f, err := os.OpenFile(filepath.Join(m.GetPath(), "file"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("x"); err != nil || f.Close() != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(p.dir, uid, "file")); string(text) != "xx" {
		t.Errorf("the file has %q (%v)", text, err)
	}
	for _, uid := range []types.UID{"", ".", "..", "../a", "a/b"} {
		if _, err := p.NewMounter(ownSpec(uid), nil); err == nil {
			t.Errorf("a volume with the UID %q", uid)
		}
	}
}

// TestEachVolumeHasOnePlugin: the kubelet refuses those that several take, and says of none why it is not mounted.
func TestEachVolumeHasOnePlugin(t *testing.T) {
	ephemeral := func(s corev1.VolumeSource) *volume.Spec {
		return volume.NewSpecFromVolume(&corev1.Volume{Name: "data", VolumeSource: s})
	}
	persistent := func(s corev1.PersistentVolumeSource) *volume.Spec {
		v := &corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: s, ClaimRef: &corev1.ObjectReference{Name: "data"}}}
		return volume.NewSpecFromPersistentVolume(v, false)
	}
	hostPath := &corev1.HostPathVolumeSource{Path: "/"}
	for want, specs := range map[string][]*volume.Spec{
		"slipway.dev/volume": {ownSpec("a")},
		"slipway.dev/refused": {
			ephemeral(corev1.VolumeSource{HostPath: hostPath}), ephemeral(corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{}}),
			ephemeral(corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{}}),
			persistent(corev1.PersistentVolumeSource{HostPath: hostPath}), persistent(corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "a.b"}}),
		},
		"kubernetes.io/empty-dir":    {ephemeral(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}})},
		"kubernetes.io/configmap":    {ephemeral(corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}})},
		"kubernetes.io/secret":       {ephemeral(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{}})},
		"kubernetes.io/projected":    {ephemeral(corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{}})},
		"kubernetes.io/downward-api": {ephemeral(corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{}})},
	} {
		for _, spec := range specs {
			var names []string
			for _, p := range volumePlugins(t.TempDir()) {
				if !p.CanSupport(spec) {
					continue
				}
				names = append(names, p.GetPluginName())
				if want == "slipway.dev/refused" {
					if _, err := p.NewMounter(spec, nil); err == nil || !strings.Contains(err.Error(), "real nodes refuse the ") {
						t.Errorf("%+v: %v", spec, err)
					}
				}
			}
			if len(names) != 1 || names[0] != want {
				t.Errorf("%+v has the plugins %v, want %s", spec, names, want)
			}
		}
	}
}
