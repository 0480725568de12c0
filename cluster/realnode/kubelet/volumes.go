package kubelet

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/volume"

	"github.com/slipway-dev/slipway/cluster/realnode/preflight"
)

// ownVolumes is the plugin for the volumes that the cluster's provisioner makes. Each has a folder named by the UID
// of its PersistentVolume, which no user can choose, in one that all nodes share. As with the host's folders,
// containers get the folder itself and nothing is mounted for the pod; so it is the same on plain nodes, and pods on
// several nodes see the same files. The cluster's process removes the folder.
type ownVolumes struct {
	dir string // of all volumes
}

var errNotOurs = errors.New("not a volume of the cluster's provisioner")

// Init keeps nothing.
func (p *ownVolumes) Init(volume.VolumeHost) error { return nil }

// GetPluginName is the plugin's name.
func (p *ownVolumes) GetPluginName() string { return "slipway.dev/volume" }

// GetVolumeName reports volumes apart.
func (p *ownVolumes) GetVolumeName(spec *volume.Spec) (string, error) {
	if !p.CanSupport(spec) {
		return "", errNotOurs
	}
	return string(spec.PersistentVolume.UID), nil
}

// CanSupport takes the volumes of the cluster's driver.
func (p *ownVolumes) CanSupport(spec *volume.Spec) bool {
	return spec.PersistentVolume != nil && spec.PersistentVolume.Spec.CSI != nil && spec.PersistentVolume.Spec.CSI.Driver == preflight.VolumeDriver
}

// RequiresRemount says that a folder stays what it is.
func (p *ownVolumes) RequiresRemount(*volume.Spec) bool { return false }

// SupportsMountOption says that those of a class do no harm: a folder has none.
func (p *ownVolumes) SupportsMountOption() bool { return true }

// SupportsSELinuxContextMount says that nothing is mounted.
func (p *ownVolumes) SupportsSELinuxContextMount(*volume.Spec) (bool, error) { return false, nil }

// NewMounter prepares a volume for a pod.
func (p *ownVolumes) NewMounter(spec *volume.Spec, _ *corev1.Pod) (volume.Mounter, error) {
	if !p.CanSupport(spec) {
		return nil, errNotOurs
	}
	uid := string(spec.PersistentVolume.UID)
	if uid == "" || strings.Trim(uid, "0123456789abcdef-") != "" {
		return nil, fmt.Errorf("volume %s: %q is no UID", spec.PersistentVolume.Name, uid)
	}
	return &ownVolume{path: filepath.Join(p.dir, uid), readOnly: spec.ReadOnly}, nil
}

// NewUnmounter has nothing to undo.
func (p *ownVolumes) NewUnmounter(string, types.UID) (volume.Unmounter, error) {
	return &ownVolume{}, nil
}

// ConstructVolumeSpec is not called: there are no folders of pods to construct it from.
func (p *ownVolumes) ConstructVolumeSpec(string, string) (volume.ReconstructedVolume, error) {
	return volume.ReconstructedVolume{}, errNotOurs
}

// ownVolume is a volume in a pod.
type ownVolume struct {
	volume.MetricsNil
	path     string
	readOnly bool
}

// GetPath is the folder that containers get.
func (v *ownVolume) GetPath() string { return v.path }

// GetAttributes says that the pod's group is given the files.
func (v *ownVolume) GetAttributes() volume.Attributes {
	return volume.Attributes{ReadOnly: v.readOnly, Managed: !v.readOnly}
}

// volumeMode lets every user of a pod write, as in an emptyDir.
const volumeMode = 0o777

// SetUp makes the folder, if this is the first pod that uses it, and gives it to the pod's group.
func (v *ownVolume) SetUp(args volume.MounterArgs) error {
	err := os.Mkdir(v.path, volumeMode)
	switch {
	case err == nil:
		if err := os.Chmod(v.path, volumeMode); err != nil { // whatever the umask
			return fmt.Errorf("make the volume's folder: %w", err)
		}
	case !errors.Is(err, fs.ErrExist):
		return fmt.Errorf("make the volume's folder: %w", err)
	}
	if v.readOnly {
		return nil
	}
	owner := volume.NewVolumeOwnership(v, v.path, args.FsGroup, args.FSGroupChangePolicy, nil)
	if err := owner.ChangePermissions(); err != nil {
		return fmt.Errorf("give the volume to the pod's group: %w", err)
	}
	return nil
}

// SetUpAt is not called: the folder is where it is.
func (v *ownVolume) SetUpAt(string, volume.MounterArgs) error { return errNotOurs }

// TearDown leaves the folder: it is the volume's.
func (v *ownVolume) TearDown() error { return nil }

// TearDownAt is not called.
func (v *ownVolume) TearDownAt(string) error { return errNotOurs }

// otherVolumes is the plugin for all volumes that are not mounted here. Without it the kubelet would say that no
// plugin matched.
type otherVolumes struct{ ownVolumes }

// GetPluginName is the plugin's name.
func (p *otherVolumes) GetPluginName() string { return "slipway.dev/refused" }

// GetVolumeName reports volumes apart.
func (p *otherVolumes) GetVolumeName(spec *volume.Spec) (string, error) { return spec.Name(), nil }

// CanSupport takes what real nodes refuse.
func (p *otherVolumes) CanSupport(spec *volume.Spec) bool { return p.reason(spec) != "" }

// reason names the volume, as all of the cluster does that places pods.
func (p *otherVolumes) reason(spec *volume.Spec) string {
	pod := &corev1.Pod{}
	switch {
	case spec.Volume != nil:
		pod.Spec.Volumes = []corev1.Volume{*spec.Volume}
	case spec.PersistentVolume != nil:
		pod.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claimOf(spec.PersistentVolume)},
		}}}
	}
	return preflight.Of(pod, false, func(string, string) (*corev1.PersistentVolumeClaim, *corev1.PersistentVolume) {
		return nil, spec.PersistentVolume
	})
}

func claimOf(v *corev1.PersistentVolume) string {
	if v.Spec.ClaimRef == nil {
		return ""
	}
	return v.Spec.ClaimRef.Name
}

// NewMounter says why there is none.
func (p *otherVolumes) NewMounter(spec *volume.Spec, _ *corev1.Pod) (volume.Mounter, error) {
	return nil, fmt.Errorf("real nodes refuse %s", p.reason(spec))
}
