package needs

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/api/v1/resource"
	"k8s.io/kubernetes/pkg/kubelet/events"
	"k8s.io/kubernetes/pkg/kubelet/util/format"
	"k8s.io/kubernetes/pkg/securitycontext"
	"k8s.io/kubernetes/pkg/util/parsers"

	"github.com/slipway-dev/slipway/cluster/simnode/stage"
)

// create is why a kubelet does not create the container; nil if it does. It looks for the image first, then for what
// the environment refers to, then at the user.
func (p *needy) create(c *corev1.Container) *stage.Refusal {
	if refusal := p.image(c); refusal != nil {
		return refusal
	}
	err := p.environment(c)
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

func (p *needy) image(c *corev1.Container) *stage.Refusal {
	before := stage.Event{Container: c.Name, Type: corev1.EventTypeWarning}
	if _, _, _, err := parsers.ParseImageName(c.Image); err != nil {
		before.Reason, before.Message = events.FailedToInspectImage, fmt.Sprintf("Failed to apply default image tag %q: %v", c.Image, err)
		return refuse(c, stage.ReasonInvalidImage, before.Message, stage.ReasonInvalidImage, before)
	}
	if c.ImagePullPolicy != corev1.PullNever || p.sources.HasImage(c.Name, c.Image) {
		return nil
	}
	before.Reason, before.Message = events.ErrImageNeverPullPolicy, fmt.Sprintf("Container image %q is not present with pull policy of Never", c.Image)
	return refuse(c, stage.ReasonNeverPulled, before.Message, stage.ReasonNeverPulled, before)
}

// environment is the first variable's source that is missing.
func (p *needy) environment(c *corev1.Container) error {
	for _, from := range c.EnvFrom {
		var err error
		switch {
		case from.ConfigMapRef != nil:
			_, err = p.configMap(from.ConfigMapRef.Name, from.ConfigMapRef.Optional)
		case from.SecretRef != nil:
			_, err = p.secret(from.SecretRef.Name, from.SecretRef.Optional)
		}
		if err != nil {
			return err
		}
	}
	for _, variable := range c.Env {
		if variable.Value != "" || variable.ValueFrom == nil {
			continue
		}
		if err := p.variable(variable.ValueFrom); err != nil {
			return err
		}
	}
	return nil
}

func (p *needy) variable(from *corev1.EnvVarSource) error {
	switch {
	case from.ConfigMapKeyRef != nil:
		ref := from.ConfigMapKeyRef
		object, err := p.configMap(ref.Name, ref.Optional)
		if err != nil || object == nil {
			return err
		}
		_, ok := object.Data[ref.Key]
		return p.key(ok, ref.Key, "ConfigMap", ref.Name, ref.Optional)
	case from.SecretKeyRef != nil:
		ref := from.SecretKeyRef
		object, err := p.secret(ref.Name, ref.Optional)
		if err != nil || object == nil {
			return err
		}
		_, ok := object.Data[ref.Key]
		return p.key(ok, ref.Key, "Secret", ref.Name, ref.Optional)
	}
	return p.resource(from.ResourceFieldRef)
}

// resource looks for the container whose resources are asked for. The API server does not.
func (p *needy) resource(ref *corev1.ResourceFieldSelector) error {
	if ref == nil || ref.ContainerName == "" {
		return nil
	}
	_, err := resource.ExtractResourceValueByContainerName(ref, p.Pod, ref.ContainerName)
	return err
}

func (p *needy) key(found bool, key, kind, name string, optional *bool) error {
	if found || isTrue(optional) {
		return nil
	}
	return fmt.Errorf("couldn't find key %v in %s %v/%v", key, kind, p.Namespace, name)
}

// user compares a uid in the pod with runAsNonRoot.
func (p *needy) user(c *corev1.Container) error {
	context := securitycontext.DetermineEffectiveSecurityContext(p.Pod, c)
	if context == nil || !isTrue(context.RunAsNonRoot) || context.RunAsUser == nil || *context.RunAsUser != 0 {
		return nil
	}
	return fmt.Errorf("container's runAsUser breaks non-root policy (pod: %q, container: %s)", format.Pod(p.Pod), c.Name)
}
