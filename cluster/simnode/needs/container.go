package needs

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/kubelet/events"
	"k8s.io/kubernetes/pkg/kubelet/util/format"
	"k8s.io/kubernetes/pkg/securitycontext"
	"k8s.io/kubernetes/pkg/util/parsers"

	"github.com/slipway-dev/slipway/cluster/simnode/stage"
)

// create is why a kubelet does not create the container; nil if it does. It looks for the images first, then for what
// the environment refers to, then at the paths of mounts, then at the user.
func (p *needy) create(c *corev1.Container) *stage.Refusal {
	for _, mount := range c.VolumeMounts {
		if image := p.volumeImage(mount.Name); image != nil {
			if refusal := p.image(c, "", image.Reference, image.PullPolicy); refusal != nil {
				return refusal
			}
		}
	}
	if refusal := p.image(c, c.Name, c.Image, c.ImagePullPolicy); refusal != nil {
		return refusal
	}
	variables, err := p.environment(c)
	if err == nil {
		err = p.paths(c, variables)
	}
	if err == nil {
		err = p.user(c)
	}
	if err == nil {
		return nil
	}
	return refuse(c, stage.ReasonConfig, err.Error(), err.Error())
}

// refuse has the Events that precede the one about the error.
func refuse(c *corev1.Container, reason, message, failure string, before ...stage.Event) *stage.Refusal {
	failed := stage.Event{Container: c.Name, Type: corev1.EventTypeWarning, Reason: events.FailedToCreateContainer, Message: "Error: " + failure}
	return &stage.Refusal{Reason: reason, Message: message, Events: append(before, failed)}
}

// volumeImage is the image that a volume is; nil for another volume.
func (p *needy) volumeImage(volume string) *corev1.ImageVolumeSource {
	for i := range p.Spec.Volumes {
		if p.Spec.Volumes[i].Name == volume {
			return p.Spec.Volumes[i].Image
		}
	}
	return nil
}

// image is why a container has not an image that it needs, with an Event about the container or, for a volume, the pod.
func (p *needy) image(c *corev1.Container, about, image string, policy corev1.PullPolicy) *stage.Refusal {
	before := stage.Event{Container: about, Type: corev1.EventTypeWarning}
	if _, _, _, err := parsers.ParseImageName(image); err != nil {
		before.Reason, before.Message = events.FailedToInspectImage, fmt.Sprintf("Failed to apply default image tag %q: %v", image, err)
		return refuse(c, stage.ReasonInvalidImage, before.Message, stage.ReasonInvalidImage, before)
	}
	if policy != corev1.PullNever || p.sources.HasImage(c.Name, image) {
		return nil
	}
	before.Reason, before.Message = events.ErrImageNeverPullPolicy, fmt.Sprintf("Container image %q is not present with pull policy of Never", image)
	return refuse(c, stage.ReasonNeverPulled, before.Message, stage.ReasonNeverPulled, before)
}

// user compares a uid in the pod with runAsNonRoot.
func (p *needy) user(c *corev1.Container) error {
	context := securitycontext.DetermineEffectiveSecurityContext(p.Pod, c)
	if context == nil || !isTrue(context.RunAsNonRoot) || context.RunAsUser == nil || *context.RunAsUser != 0 {
		return nil
	}
	return fmt.Errorf("container's runAsUser breaks non-root policy (pod: %q, container: %s)", format.Pod(p.Pod), c.Name)
}
