package explain

import (
	"context"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/slipway-dev/slipway/internal/report"
)

// mostReferences bounds how many references are looked at.
const mostReferences = 50

// named are the fields that hold the name of an object, in pods and, by custom, in others' kinds.
var named = map[string]string{
	"secretName": "Secret", "configMapName": "ConfigMap", "claimName": "PersistentVolumeClaim", "serviceAccountName": "ServiceAccount",
}

// holders are the fields that hold an object with the name in its field name.
var holders = map[string]string{
	"secretRef": "Secret", "secretKeyRef": "Secret", "passwordSecretRef": "Secret", "credentialsSecretRef": "Secret", "tokenSecretRef": "Secret",
	"configMapRef": "ConfigMap", "configMapKeyRef": "ConfigMap", "configMap": "ConfigMap",
}

// refer finds what the object and its pods name, and whether it is there.
func (s *scene) refer(ctx context.Context) {
	for _, m := range s.members {
		if s.ref.Namespace == "" || m.object.GetNamespace() == "" || m.depth > 0 && m.kind() != podKind && !isWorkload(m) {
			continue
		}
		spec, _, _ := unstructured.NestedMap(m.object.Object, "spec")
		s.walk(m, spec, ".spec", false)
	}
	missing := map[report.ObjectRef]bool{}
	for i := range s.references {
		r := &s.references[i]
		absent, asked := missing[r.Object]
		if !asked {
			absent = s.absent(ctx, r.Object)
			missing[r.Object] = absent
		}
		if r.Missing = absent; absent {
			s.needs(*r)
		}
	}
}

// walk notes the names in a part of an object. What is optional may be missing.
func (s *scene) walk(m *member, at any, path string, optional bool) {
	switch part := at.(type) {
	case []any:
		for _, item := range part {
			s.walk(m, item, path+"[]", optional)
		}
	case map[string]any:
		if is, set := part["optional"].(bool); set {
			optional = is
		}
		for _, key := range slices.Sorted(maps.Keys(part)) {
			if kind := named[key]; kind != "" {
				if name, is := part[key].(string); is {
					s.note(m, kind, name, path+"."+key, optional)
				}
			}
			if kind := holders[key]; kind != "" {
				s.hold(m, kind, part[key], path+"."+key, optional)
			}
			s.walk(m, part[key], path+"."+key, optional)
		}
	}
}

// hold notes the names in what a field holds: one object, or several.
func (s *scene) hold(m *member, kind string, at any, path string, optional bool) {
	switch part := at.(type) {
	case []any:
		for _, item := range part {
			s.hold(m, kind, item, path+"[]", optional)
		}
	case map[string]any:
		is, _ := part["optional"].(bool)
		name, has := part["name"].(string)
		if namespace, elsewhere := part["namespace"].(string); has && (!elsewhere || namespace == m.object.GetNamespace()) {
			s.note(m, kind, name, path+".name", optional || is)
		}
	}
}

func (s *scene) note(m *member, kind, name, path string, optional bool) {
	r := Reference{Object: report.ObjectRef{Kind: kind, Namespace: m.object.GetNamespace(), Name: name}, By: m.ref(), Field: path}
	known := slices.ContainsFunc(s.references, func(o Reference) bool { return o.Object == r.Object })
	if len(validation.IsDNS1123Subdomain(name)) == 0 && !optional && !known && len(s.references) < mostReferences {
		s.references = append(s.references, r)
	}
}

// absent reports whether an object is known not to be there.
func (s *scene) absent(ctx context.Context, of report.ObjectRef) bool {
	served, known := s.kinds.of(schema.GroupKind{Kind: of.Kind})
	if !known {
		return false
	}
	_, err := s.metadata.Resource(served.GroupVersionResource).Namespace(of.Namespace).Get(ctx, of.Name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		s.unread(strings.ToLower(of.Kind)+"/"+of.Name, err)
	}
	return apierrors.IsNotFound(err)
}

// needs makes a missing object a cause if the one that needs it is not ready. Pods cannot start without it. Other
// objects may as well name what their controller will make, so they count if their status names it, too.
func (s *scene) needs(r Reference) {
	at := slices.IndexFunc(s.members, func(m *member) bool { return m.ref() == r.By })
	m := s.members[at]
	named := m.kind() == podKind || isWorkload(m) || slices.ContainsFunc(conditionsOf(m.object), func(c condition) bool { return strings.Contains(c.message, r.Object.Name) })
	if named && (m.state == NotReady || m.state == InProgress) {
		of := strings.ToLower(r.Object.Kind) + "/" + r.Object.Namespace + "/" + r.Object.Name
		c := m.because(concrete, "NotFound", "%s does not exist, and is needed (%s)", of, r.Field)
		c.Next = command("slipway explain -n %s %s %s", r.Object.Namespace, strings.ToLower(r.Object.Kind), r.Object.Name)
		m.state = NotReady
	}
}
