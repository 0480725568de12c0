package needs

import (
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/api/v1/resource"
	"k8s.io/kubernetes/pkg/fieldpath"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/volume/validation"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"
)

// unknown is the value of a variable that only a container's run decides about. It is not empty.
const unknown = "?"

// variables are those of a container, with their values as far as they are known.
type variables map[string]string

// environment is what the kubelet's is, or the first variable's source that is missing.
func (p *needy) environment(c *corev1.Container) (variables, error) {
	found := variables{}
	for _, from := range c.EnvFrom {
		var keys []string
		var err error
		switch {
		case from.ConfigMapRef != nil:
			keys, err = keysOf(p.configMap(from.ConfigMapRef.Name, from.ConfigMapRef.Optional))
		case from.SecretRef != nil:
			keys, err = keysOf(p.secret(from.SecretRef.Name, from.SecretRef.Optional))
		}
		if err != nil {
			return nil, err
		}
		for _, key := range keys {
			found[from.Prefix+key] = unknown
		}
	}
	for _, variable := range c.Env {
		value, there := variable.Value, true
		if strings.Contains(value, "$(") {
			value = unknown
		}
		if variable.Value == "" && variable.ValueFrom != nil {
			var err error
			if value, there, err = p.variable(variable.ValueFrom); err != nil {
				return nil, err
			}
		}
		if there {
			found[variable.Name] = value
		}
	}
	return found, nil
}

// keysOf are the keys of an object that may not be there.
func keysOf[T corev1.Secret | corev1.ConfigMap](object *T, err error) (keys []string, _ error) {
	if object == nil || err != nil {
		return nil, err
	}
	switch o := any(object).(type) {
	case *corev1.Secret:
		for key := range o.Data {
			keys = append(keys, key)
		}
	case *corev1.ConfigMap:
		for key := range o.Data {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// variable is the value of a variable that has a source; there is none without an error if the source is optional.
func (p *needy) variable(from *corev1.EnvVarSource) (value string, there bool, err error) {
	switch {
	case from.ConfigMapKeyRef != nil:
		ref := from.ConfigMapKeyRef
		object, err := p.configMap(ref.Name, ref.Optional)
		if err != nil || object == nil {
			return "", false, err
		}
		_, there = object.Data[ref.Key]
		return unknown, there, p.key(there, ref.Key, "ConfigMap", ref.Name, ref.Optional)
	case from.SecretKeyRef != nil:
		ref := from.SecretKeyRef
		object, err := p.secret(ref.Name, ref.Optional)
		if err != nil || object == nil {
			return "", false, err
		}
		_, there = object.Data[ref.Key]
		return unknown, there, p.key(there, ref.Key, "Secret", ref.Name, ref.Optional)
	case from.FieldRef != nil && strings.HasPrefix(from.FieldRef.FieldPath, "metadata."):
		value, err := fieldpath.ExtractFieldPathAsString(p.Pod, from.FieldRef.FieldPath)
		return value, true, err
	}
	return unknown, true, p.resource(from.ResourceFieldRef)
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

// ofService matches the variables that a kubelet adds for each Service of the namespace.
var ofService = regexp.MustCompile(`^[A-Z0-9_]+_(SERVICE_HOST|SERVICE_PORT|PORT)(_[A-Z0-9_]+)?$`)

// paths is why a volume cannot be mounted into a container by a path with variables. Those of Services count as there:
// which Services there are is not known here.
func (p *needy) paths(c *corev1.Container, known variables) error {
	for _, mount := range c.VolumeMounts {
		if mount.SubPathExpr == "" {
			continue
		}
		var all []kubecontainer.EnvVar
		for name, value := range known {
			all = append(all, kubecontainer.EnvVar{Name: name, Value: value})
		}
		expansion.Expand(mount.SubPathExpr, func(name string) string {
			if _, ok := known[name]; !ok && ofService.MatchString(name) {
				all = append(all, kubecontainer.EnvVar{Name: name, Value: unknown})
			}
			return ""
		})
		path, err := kubecontainer.ExpandContainerVolumeMounts(mount, all)
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(path, "/"):
			return fmt.Errorf("error SubPath `%s` must not be an absolute path", path)
		}
		if err := validation.ValidatePathNoBacksteps(path); err != nil {
			return fmt.Errorf("unable to provision SubPath `%s`: %w", path, err)
		}
	}
	return nil
}
