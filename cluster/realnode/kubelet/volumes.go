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

// ownVolumes is the plugin for volumes of the cluster's provisioner. All nodes share one folder, in which the UID of a
// PersistentVolume, which users cannot choose, names the folder of the volume. As with hostPath, containers get that
// folder and nothing is mounted for the pod. So plain nodes need nothing else, and pods on several nodes share files.
// The cluster's process removes the folder.
type ownVolumes struct {
	dir string // contains the folders of all volumes
}

var errNotOurs = errors.New("not a volume of the cluster's provisioner")

// Init keeps nothing.
func (p *ownVolumes) Init(volume.VolumeHost) error { return nil }

// GetPluginName is the plugin's name.
func (p *ownVolumes) GetPluginName() string { return "slipway.dev/volume" }

// GetVolumeName returns the UID of the volume, which keeps volumes apart.
func (p *ownVolumes) GetVolumeName(spec *volume.Spec) (string, error) {
	if !p.CanSupport(spec) {
		return "", errNotOurs
	}
	return string(spec.PersistentVolume.UID), nil
}

// CanSupport accepts volumes of the cluster's driver.
func (p *ownVolumes) CanSupport(spec *volume.Spec) bool {
	return spec.PersistentVolume != nil && spec.PersistentVolume.Spec.CSI != nil && spec.PersistentVolume.Spec.CSI.Driver == preflight.VolumeDriver
}

// RequiresRemount returns false: the folder's content needs no updates.
func (p *ownVolumes) RequiresRemount(*volume.Spec) bool { return false }

// SupportsMountOption returns true: a class may have mount options, which have no effect on a folder.
func (p *ownVolumes) SupportsMountOption() bool { return true }

// SupportsSELinuxContextMount returns false, because nothing is mounted.
func (p *ownVolumes) SupportsSELinuxContextMount(*volume.Spec) (bool, error) { return false, nil }

// NewMounter returns an error for volumes of others, and for a UID that could be a path.
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

// NewUnmounter returns an unmounter that does nothing.
func (p *ownVolumes) NewUnmounter(string, types.UID) (volume.Unmounter, error) {
	return &ownVolume{}, nil
}

// ConstructVolumeSpec always fails. The kubelet calls it for folders in a pod's directory, and this plugin makes none.
func (p *ownVolumes) ConstructVolumeSpec(string, string) (volume.ReconstructedVolume, error) {
	return volume.ReconstructedVolume{}, errNotOurs
}

// ownVolume is a volume of one pod.
type ownVolume struct {
	volume.MetricsNil
	path     string
	readOnly bool
}

// GetPath returns the folder that containers get.
func (v *ownVolume) GetPath() string { return v.path }

// GetAttributes marks a writable volume as managed, like an emptyDir: its owner and labels may change.
func (v *ownVolume) GetAttributes() volume.Attributes {
	return volume.Attributes{ReadOnly: v.readOnly, Managed: !v.readOnly}
}

// volumeMode lets every user in a pod write, as in an emptyDir.
const volumeMode = 0o777

// SetUp makes the folder for its first pod, and gives a writable one to the pod's group.
func (v *ownVolume) SetUp(args volume.MounterArgs) error {
	err := os.Mkdir(v.path, volumeMode)
	switch {
	case err == nil:
		if err := os.Chmod(v.path, volumeMode); err != nil { // mkdir's mode is subject to the umask
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

// SetUpAt always fails: the folder cannot be elsewhere.
func (v *ownVolume) SetUpAt(string, volume.MounterArgs) error { return errNotOurs }

// TearDown keeps the folder, which belongs to the volume and not to the pod.
func (v *ownVolume) TearDown() error { return nil }

// TearDownAt always fails.
func (v *ownVolume) TearDownAt(string) error { return errNotOurs }

// otherVolumes is the plugin for all volumes that real nodes refuse. It gives the pod the reason: without it the
// kubelet reports that no plugin matched.
type otherVolumes struct{ ownVolumes }

// GetPluginName is the plugin's name.
func (p *otherVolumes) GetPluginName() string { return "slipway.dev/refused" }

// GetVolumeName returns the name in the pod.
func (p *otherVolumes) GetVolumeName(spec *volume.Spec) (string, error) { return spec.Name(), nil }

// CanSupport accepts the volumes that real nodes refuse.
func (p *otherVolumes) CanSupport(spec *volume.Spec) bool { return p.reason(spec) != "" }

// reason describes the refused volume with preflight's words, which the admission and the scheduler's Events use too.
// It is empty for a volume that real nodes take.
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

// NewMounter returns the reason as an error.
func (p *otherVolumes) NewMounter(spec *volume.Spec, _ *corev1.Pod) (volume.Mounter, error) {
	return nil, fmt.Errorf("real nodes refuse %s", p.reason(spec))
}
