// Package consistency finds objects of a deployment that do not fit each other: they are accepted by the API server,
// and do not work.
//
//	for _, m := range consistency.Mistakes(objects) {
//		m.Object, m.Text // service/op-system/op-metrics: no container has its port https (8443)
//	}
//
// Objects that are not among those given, such as a Secret that a person makes, count as missing. So a change is to be
// judged by the mistakes that it adds: see [Added].
package consistency

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// A Mistake is what does not fit.
type Mistake struct {
	Object string // such as deployment/op-system/op-controller-manager
	Text   string
	// Certificate reports that a certificate is wrong or missing.
	Certificate bool
}

// Added are the mistakes after a change that were not there before.
func Added(before, after []*unstructured.Unstructured) []Mistake {
	known := Mistakes(before)
	return slices.DeleteFunc(Mistakes(after), func(m Mistake) bool { return slices.Contains(known, m) })
}

// Mistakes are those of all objects, in their order.
func Mistakes(objects []*unstructured.Unstructured) []Mistake {
	c := &checker{}
	for _, o := range objects {
		read := object{source: o}
		if text, err := o.MarshalJSON(); err == nil {
			_ = json.Unmarshal(text, &read) // what has another type is not one of the kinds that are looked at
		}
		c.all = append(c.all, read)
	}
	for _, o := range c.all {
		c.object = strings.ToLower(o.Kind) + "/" + strings.TrimPrefix(o.Metadata.Namespace+"/"+o.Metadata.Name, "/")
		c.texts(o)
		c.namespace(o)
		c.containers(o)
		c.secrets(o)
		c.selects(o)
		c.service(o)
		c.called(o.source.Object)
	}
	return c.found
}

// object is what is read of any kind.
type object struct {
	source   *unstructured.Unstructured
	Kind     string
	Metadata struct{ Name, Namespace string }
	Spec     struct {
		Selector    json.RawMessage
		PodSelector *selector
		Ports       json.RawMessage
		SecretName  string
		Template    struct {
			Metadata struct{ Labels map[string]string }
			Spec     pod
		}
	}
}

type selector struct{ MatchLabels map[string]string }

type pod struct {
	Containers, InitContainers []container
	Volumes                    []struct {
		Secret *struct {
			SecretName string
			Optional   bool
		}
	}
}

type container struct {
	Name          string
	Command, Args []string
	Env           []struct{ Name, Value string }
	Ports         []struct {
		Name          string
		ContainerPort int
	}
}

type checker struct {
	all    []object
	object string // that is looked at
	found  []Mistake
}

func (c *checker) add(format string, args ...any) {
	c.addMistake(Mistake{Object: c.object, Text: fmt.Sprintf(format, args...)})
}

// addCertificate adds a mistake of a certificate.
func (c *checker) addCertificate(format string, args ...any) {
	c.addMistake(Mistake{Object: c.object, Text: fmt.Sprintf(format, args...), Certificate: true})
}

func (c *checker) addMistake(m Mistake) {
	if !slices.Contains(c.found, m) {
		c.found = append(c.found, m)
	}
}

// has reports whether there is an object of a kind.
func (c *checker) has(kind, namespace, name string) bool {
	return slices.ContainsFunc(c.all, func(o object) bool {
		return o.Kind == kind && o.Metadata.Name == name && (namespace == "" || o.Metadata.Namespace == namespace)
	})
}

var (
	placeholder = lazy.Regexp(`\b(?:SERVICE|CERTIFICATE|ISSUER)_(?:NAME|NAMESPACE)\b`)
	reference   = lazy.Regexp(`(?:^|[^$])\$\(([A-Za-z_][A-Za-z0-9_]*)\)`)
	inSystem    = lazy.Regexp(`\.system\.svc\b|^system/|\bnamespace="system"`)
)

// texts looks for what should have been replaced. Texts of ConfigMaps and schemas are for others to read. Names in a
// certificate that no workload mounts have no effect: kubebuilder always lists the one of metrics, and replaces its
// placeholders only in projects that mount it.
func (c *checker) texts(o object) {
	if o.Kind == "ConfigMap" || o.Kind == "Secret" {
		return
	}
	unused := o.Kind == "Certificate" && !c.mounted(o)
	add := c.add
	if o.Kind == "Certificate" {
		add = c.addCertificate
	}
	system := c.lacksSystem()
	var walk func(value any, variables []string)
	walk = func(value any, variables []string) {
		switch v := value.(type) {
		case map[string]any:
			if list, is := v["env"].([]any); is {
				for _, item := range list {
					if variable, is := item.(map[string]any); is {
						variables = append(variables, fmt.Sprint(variable["name"]))
					}
				}
			}
			for _, key := range slices.Sorted(maps.Keys(v)) {
				if key != "openAPIV3Schema" && key != "description" {
					walk(v[key], variables)
				}
			}
		case []any:
			for _, below := range v {
				walk(below, variables)
			}
		case string:
			if found := placeholder().FindString(v); found != "" && !unused {
				add("the placeholder %s is not replaced in %q", found, v)
			}
			for _, found := range reference().FindAllStringSubmatch(v, -1) {
				if !slices.Contains(variables, found[1]) && !unused {
					add("$(%s) is not replaced in %q", found[1], v)
				}
			}
			if system && inSystem().MatchString(v) {
				add("%q names the namespace system, which is not deployed", v)
			}
		}
	}
	walk(o.source.Object, nil)
}

// mounted reports whether a workload mounts the Secret of a certificate.
func (c *checker) mounted(certificate object) bool {
	return slices.ContainsFunc(c.all, func(o object) bool {
		return o.Metadata.Namespace == certificate.Metadata.Namespace && o.Spec.Template.Spec.mounts(certificate.Spec.SecretName)
	})
}

// mounts reports whether a pod has a volume of a Secret.
func (p pod) mounts(secret string) bool {
	for _, volume := range p.Volumes {
		if volume.Secret != nil && volume.Secret.SecretName == secret {
			return true
		}
	}
	return false
}

// lacksSystem reports whether nothing that runs is in the namespace system, in which layouts have objects whose
// namespace is to be replaced.
func (c *checker) lacksSystem() bool {
	running := false
	for _, o := range c.all {
		if len(o.Spec.Template.Spec.Containers) > 0 && o.Metadata.Namespace == "system" {
			return false
		}
		running = running || len(o.Spec.Template.Spec.Containers) > 0
	}
	return running && !c.has("Namespace", "", "system")
}

func (c *checker) namespace(o object) {
	if o.Metadata.Namespace == "system" && c.lacksSystem() {
		c.add("it is in the namespace system, which is not deployed")
	}
}

// containers looks for flags that are given twice.
func (c *checker) containers(o object) {
	for _, container := range o.Spec.Template.Spec.Containers {
		var flags []string
		for _, word := range slices.Concat(container.Command, container.Args) {
			if !strings.HasPrefix(word, "-") || word == "--" {
				continue
			}
			name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
			if slices.Contains(flags, name) {
				c.add("the container %s gets the flag --%s twice", container.Name, name)
			}
			flags = append(flags, name)
		}
	}
}

// secrets looks for Secrets that are mounted, and that nothing makes.
func (c *checker) secrets(o object) {
	for _, volume := range o.Spec.Template.Spec.Volumes {
		if volume.Secret == nil || volume.Secret.Optional {
			continue
		}
		made := slices.ContainsFunc(c.all, func(maker object) bool {
			return maker.Kind == "Certificate" && maker.Spec.SecretName == volume.Secret.SecretName && maker.Metadata.Namespace == o.Metadata.Namespace
		})
		if !made && !c.has("Secret", o.Metadata.Namespace, volume.Secret.SecretName) {
			c.addCertificate("it mounts the Secret %s, which nothing makes", volume.Secret.SecretName)
		}
	}
}

// pods are the workloads of a namespace whose pods have labels.
func (c *checker) pods(namespace string, labels map[string]string) (all []object) {
	for _, o := range c.all {
		fits := len(o.Spec.Template.Spec.Containers) > 0 && o.Metadata.Namespace == namespace
		for key, value := range labels {
			fits = fits && o.Spec.Template.Metadata.Labels[key] == value
		}
		if fits {
			all = append(all, o)
		}
	}
	return all
}

// selects looks for selectors of no pod.
func (c *checker) selects(o object) {
	var labels map[string]string
	switch o.Kind {
	case "Service":
		_ = json.Unmarshal(o.Spec.Selector, &labels)
	case "PodDisruptionBudget":
		var s selector
		_ = json.Unmarshal(o.Spec.Selector, &s)
		labels = s.MatchLabels
	case "NetworkPolicy":
		if o.Spec.PodSelector != nil {
			labels = o.Spec.PodSelector.MatchLabels
		}
	}
	if len(labels) > 0 && len(c.pods(o.Metadata.Namespace, labels)) == 0 {
		c.add("it selects no pods")
	}
}

// service looks for ports of a Service that no container serves, or serves without the TLS that they promise.
func (c *checker) service(o object) {
	var labels map[string]string
	var ports []struct {
		Name, AppProtocol string
		Port              int
		TargetPort        any
	}
	if o.Kind != "Service" || json.Unmarshal(o.Spec.Selector, &labels) != nil || len(labels) == 0 || json.Unmarshal(o.Spec.Ports, &ports) != nil {
		return
	}
	var containers []container
	for _, workload := range c.pods(o.Metadata.Namespace, labels) {
		containers = append(containers, workload.Spec.Template.Spec.Containers...)
	}
	for _, port := range ports {
		target := fmt.Sprint(port.TargetPort)
		if port.TargetPort == nil {
			target = fmt.Sprint(port.Port)
		}
		switch {
		case len(containers) == 0:
		case !slices.ContainsFunc(containers, func(c container) bool { return c.serves(target) }):
			c.add("no container serves its port %s (%s)", port.Name, target)
		case (port.Name == "https" || port.AppProtocol == "https") && slices.ContainsFunc(containers, func(c container) bool { return c.plain(target) }):
			c.add("the manager serves its port %s (%s) without TLS", port.Name, target)
		}
	}
}

// serves reports whether a container says that it serves a port, by its number or name.
func (c container) serves(port string) bool {
	for _, p := range c.Ports {
		if p.Name == port || fmt.Sprint(p.ContainerPort) == port {
			return true
		}
	}
	number := regexp.MustCompile(`(?:^|[:=])` + regexp.QuoteMeta(port) + `$`)
	return slices.ContainsFunc(slices.Concat(c.Command, c.Args), number.MatchString) ||
		slices.ContainsFunc(c.Env, func(v struct{ Name, Value string }) bool { return number.MatchString(v.Value) })
}

// plain reports whether a container serves metrics at a port, and not over HTTPS.
func (c container) plain(port string) bool {
	return slices.Contains(c.Args, "--metrics-secure=false") && slices.ContainsFunc(c.Args, func(arg string) bool {
		return strings.HasPrefix(arg, "--metrics-bind-address=") && strings.HasSuffix(arg, ":"+port)
	})
}

// called looks for Services that the API server is to call, and that are not there.
func (c *checker) called(value any) {
	switch v := value.(type) {
	case map[string]any:
		if config, is := v["clientConfig"].(map[string]any); is {
			name, namespace := text(config, "service", "name"), text(config, "service", "namespace")
			if name != "" && !c.has("Service", namespace, name) {
				c.add("the API server is to call the Service %s/%s, which is not deployed", namespace, name)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if key != "openAPIV3Schema" {
				c.called(v[key])
			}
		}
	case []any:
		for _, below := range v {
			c.called(below)
		}
	}
}

func text(object map[string]any, path ...string) string {
	value, _, _ := unstructured.NestedString(object, path...)
	return value
}
