package needs

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/kubernetes/pkg/kubelet/events"
	"k8s.io/kubernetes/pkg/volume/configmap"
	"k8s.io/kubernetes/pkg/volume/secret"

	"github.com/slipway-dev/slipway/cluster/simnode/stage"
)

// unmounted is how a kubelet reports a volume that it could not set up.
func unmounted(volume string, err error) stage.Event {
	return stage.Event{Type: corev1.EventTypeWarning, Reason: events.FailedMountVolume,
		Message: fmt.Sprintf("MountVolume.SetUp failed for volume %q : %v", volume, err)}
}

// mount is why the volume cannot be filled; nil if it can.
func (p *needy) mount(v *corev1.Volume) error {
	switch {
	case v.Secret != nil:
		return p.mountSecret(v.Secret.SecretName, v.Secret.Items, v.Secret.DefaultMode, v.Secret.Optional)
	case v.ConfigMap != nil:
		return p.mountConfigMap(v.ConfigMap.Name, v.ConfigMap.Items, v.ConfigMap.DefaultMode, v.ConfigMap.Optional)
	case v.DownwardAPI != nil:
		return p.mountDownward(v.DownwardAPI.Items)
	case v.Projected != nil:
		var errs []error
		for _, source := range v.Projected.Sources {
			switch {
			case source.Secret != nil:
				errs = append(errs, p.mountSecret(source.Secret.Name, source.Secret.Items, v.Projected.DefaultMode, source.Secret.Optional))
			case source.ConfigMap != nil:
				errs = append(errs, p.mountConfigMap(source.ConfigMap.Name, source.ConfigMap.Items, v.Projected.DefaultMode, source.ConfigMap.Optional))
			case source.DownwardAPI != nil:
				errs = append(errs, p.mountDownward(source.DownwardAPI.Items))
			}
		}
		return utilerrors.NewAggregate(errs)
	}
	return nil
}

func (p *needy) mountDownward(files []corev1.DownwardAPIVolumeFile) error {
	var errs []error
	for _, file := range files {
		errs = append(errs, p.resource(file.ResourceFieldRef))
	}
	return utilerrors.NewAggregate(errs)
}

func (p *needy) mountSecret(name string, items []corev1.KeyToPath, mode *int32, optional *bool) error {
	s, err := p.secret(name, optional)
	if err != nil || s == nil {
		return err
	}
	_, err = secret.MakePayload(items, s, mode, nil, isTrue(optional))
	return err
}

func (p *needy) mountConfigMap(name string, items []corev1.KeyToPath, mode *int32, optional *bool) error {
	c, err := p.configMap(name, optional)
	if err != nil || c == nil {
		return err
	}
	_, err = configmap.MakePayload(items, c, mode, nil, isTrue(optional))
	return err
}
