package needs

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/component-helpers/storage/ephemeral"
	"k8s.io/kubernetes/pkg/kubelet/events"
	"k8s.io/kubernetes/pkg/volume"
	volumeutil "k8s.io/kubernetes/pkg/volume/util"

	"github.com/slipway-dev/slipway/cluster/simnode/stage"
)

// claims are why the claims of a pod's volumes cannot be mounted, as a kubelet reports it: for all together. A claim is
// not bound when the pod names its node itself, past the scheduler, or when it was deleted since.
func (p *needy) claims(used usage) []stage.Event {
	var volumes, problems []string
	for i := range p.Spec.Volumes {
		v := &p.Spec.Volumes[i]
		if err := p.claim(v, used); err != nil && p.failed == nil {
			volumes, problems = append(volumes, v.Name), append(problems, err.Error())
		}
	}
	if len(problems) == 0 {
		return nil
	}
	slices.Sort(problems)
	return []stage.Event{{Type: corev1.EventTypeWarning, Reason: events.FailedMountVolume, Message: fmt.Sprintf(
		"Unable to attach or mount volumes: unmounted volumes=%v, unattached volumes=[], failed to process volumes=%[1]v: %s", volumes, strings.Join(problems, "; "),
	)}}
}

// claim is why the volume's claim cannot be mounted; nil if it can, or the volume has none.
func (p *needy) claim(v *corev1.Volume, used usage) error {
	name := ""
	switch {
	case v.PersistentVolumeClaim != nil:
		name = v.PersistentVolumeClaim.ClaimName
	case v.Ephemeral != nil:
		name = ephemeral.VolumeClaimName(p.Pod, v)
	}
	if name == "" || !used.has(v.Name) {
		return nil
	}
	claim, err := p.boundClaim(name)
	if err != nil {
		return fmt.Errorf("error processing PVC %s/%s: %w", p.Namespace, name, err)
	}
	if v.Ephemeral != nil {
		if err := ephemeral.VolumeIsForPod(p.Pod, claim); err != nil {
			return err
		}
	}
	bound, err := p.boundVolume(claim)
	if err != nil {
		return fmt.Errorf("error processing PVC %s/%s: %w", p.Namespace, name, err)
	}
	mode, err := volumeutil.GetVolumeMode(volume.NewSpecFromPersistentVolume(bound, false))
	switch {
	case err != nil:
		return err
	case used.mounts.Has(v.Name) && mode != corev1.PersistentVolumeFilesystem:
		return fmt.Errorf("volume %s has volumeMode %s, but is specified in volumeMounts", v.Name, mode)
	case used.devices.Has(v.Name) && mode != corev1.PersistentVolumeBlock:
		return fmt.Errorf("volume %s has volumeMode %s, but is specified in volumeDevices", v.Name, mode)
	}
	return nil
}

func (p *needy) boundClaim(name string) (*corev1.PersistentVolumeClaim, error) {
	claim, err := p.sources.Claim(p.Namespace, name)
	switch {
	case err != nil:
		return nil, fmt.Errorf("failed to fetch PVC from API server: %w", p.notFound(err))
	case claim.DeletionTimestamp != nil && !slices.Contains(claim.Finalizers, volumeutil.PVCProtectionFinalizer):
		return nil, errors.New("PVC is being deleted")
	case claim.Status.Phase != corev1.ClaimBound:
		return nil, errors.New("PVC is not bound")
	case claim.Spec.VolumeName == "":
		return nil, errors.New("PVC has empty pvc.Spec.VolumeName")
	}
	return claim, nil
}

func (p *needy) boundVolume(claim *corev1.PersistentVolumeClaim) (*corev1.PersistentVolume, error) {
	name := claim.Spec.VolumeName
	v, err := p.sources.Volume(name)
	switch {
	case err != nil:
		return nil, fmt.Errorf("failed to fetch PV %s from API server: %w", name, p.notFound(err))
	case v.Spec.ClaimRef == nil:
		return nil, fmt.Errorf("found PV object %s but it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim", name)
	case v.Spec.ClaimRef.UID != claim.UID:
		return nil, fmt.Errorf("found PV object %s but its pv.Spec.ClaimRef.UID %s does not point to claim.UID %s", name, v.Spec.ClaimRef.UID, claim.UID)
	}
	return v, nil
}

// notFound notes an error that is another one: its source does not answer.
func (p *needy) notFound(err error) error {
	if !apierrors.IsNotFound(err) && p.failed == nil {
		p.failed = err
	}
	return err
}
