package kind

import (
	"strings"

	"github.com/slipway-dev/slipway/project"
)

// A CoreObject is how tests make an object of a kind of Kubernetes itself.
type CoreObject struct {
	Namespaced  bool
	PodTemplate bool   // the spec has types of core/v1
	Spec        string // in Go, with the lines indented for its place; "" when there is none
}

const corePod = `corev1.PodSpec{
	Containers: []corev1.Container{{Name: "main", Image: "example.com/image"}},
}`

// coreObjects are the kinds that tests create through the API server.
var coreObjects = map[string]CoreObject{
	"core/ConfigMap":      {Namespaced: true},
	"core/Namespace":      {},
	"core/Secret":         {Namespaced: true},
	"core/ServiceAccount": {Namespaced: true},
	"core/Pod":            {Namespaced: true, PodTemplate: true, Spec: corePod},
	"core/Service":        {Namespaced: true, PodTemplate: true, Spec: "corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}"},
	"apps/Deployment":     {Namespaced: true, PodTemplate: true, Spec: workload("Deployment")},
	"apps/StatefulSet":    {Namespaced: true, PodTemplate: true, Spec: workload("StatefulSet")},
	"apps/DaemonSet":      {Namespaced: true, PodTemplate: true, Spec: workload("DaemonSet")},
	"apps/ReplicaSet":     {Namespaced: true, PodTemplate: true, Spec: workload("ReplicaSet")},
}

func workload(kind string) string {
	return `appsv1.` + kind + `Spec{
	Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "test"}},
	Template: corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "test"}},
		Spec: ` + strings.ReplaceAll(corePod, "\n", "\n\t\t") + `,
	},
}`
}

// CoreObjectOf is how tests make an object of the kind, or nil when they cannot.
func CoreObjectOf(r project.Resource) *CoreObject {
	object, ok := coreObjects[r.Group+"/"+r.Kind]
	if !ok || !r.Core || r.Version != "v1" {
		return nil
	}
	object.PodTemplate = object.PodTemplate && r.Group != "core" // whose types are imported already
	return &object
}
