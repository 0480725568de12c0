// Package needs finds out what a pod refers to and its node cannot get: Secrets, ConfigMaps, their keys, claims,
// images, variables. The reasons, messages and Events are those of a kubelet, which package
// [github.com/slipway-dev/slipway/cluster/simnode/stage] puts into the pod's status when it comes to that.
//
//	missing, err := needs.Sources{Secret: secrets, …, HasImage: hasImage}.Missing(pod)
//	step := stage.Next(stage.Input{Pod: pod, Missing: missing, …})
//
// An image counts as pulled unless its name is invalid or the pod forbids the pull. The user of an image is not known:
// of runAsNonRoot only a uid in the pod is checked.
package needs

import (
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/sets"
	volumeutil "k8s.io/kubernetes/pkg/volume/util"

	"github.com/slipway-dev/slipway/cluster/simnode/stage"
)

// Sources are where a node gets what pods refer to. An error that is no NotFound says that the source does not answer.
type Sources struct {
	Secret    func(namespace, name string) (*corev1.Secret, error)
	ConfigMap func(namespace, name string) (*corev1.ConfigMap, error)
	Claim     func(namespace, name string) (*corev1.PersistentVolumeClaim, error)
	Volume    func(name string) (*corev1.PersistentVolume, error)
	// HasImage says whether the image of a container is on the node although it was not pulled.
	HasImage func(container, image string) bool
}

// Missing is what the pod lacks. An error is one of the sources.
func (s Sources) Missing(pod *corev1.Pod) (stage.Missing, error) {
	p := needy{Pod: pod, sources: s}
	used := usageOf(pod)
	m := stage.Missing{Volumes: p.claims(used)}
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if !used.has(v.Name) {
			continue // no container needs it
		}
		if err := p.mount(v); p.failed == nil && err != nil {
			m.Volumes = append(m.Volumes, unmounted(v.Name, err))
		}
	}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			if refusal := p.create(&containers[i]); refusal != nil {
				if m.Containers == nil {
					m.Containers = map[string]stage.Refusal{}
				}
				m.Containers[containers[i].Name] = *refusal
			}
		}
	}
	return m, p.failed
}

// usage is how containers use volumes: as folders or as devices.
type usage struct{ mounts, devices sets.Set[string] }

func usageOf(pod *corev1.Pod) usage {
	mounts, devices, _ := volumeutil.GetPodVolumeNames(pod, false)
	return usage{mounts, devices}
}

func (u usage) has(volume string) bool { return u.mounts.Has(volume) || u.devices.Has(volume) }

// needy is a pod that is looked at.
type needy struct {
	*corev1.Pod
	sources Sources
	failed  error // the first one of a source that does not answer
}

// secret is nil if there is none and that is fine with the pod.
func (p *needy) secret(name string, optional *bool) (*corev1.Secret, error) {
	return find(p, p.sources.Secret, "secret", name, optional)
}

func (p *needy) configMap(name string, optional *bool) (*corev1.ConfigMap, error) {
	return find(p, p.sources.ConfigMap, "configmap", name, optional)
}

// find is nil without an error if there is no object of that name and it is optional. The error of a missing one has a
// kubelet's words.
func find[T any](p *needy, get func(namespace, name string) (*T, error), kind, name string, optional *bool) (*T, error) {
	object, err := get(p.Namespace, name)
	switch {
	case err == nil:
		return object, nil
	case !apierrors.IsNotFound(err):
		return nil, p.notFound(err)
	case isTrue(optional):
		return nil, nil
	}
	return nil, apierrors.NewNotFound(corev1.Resource(kind), name)
}

func isTrue(b *bool) bool { return b != nil && *b }
