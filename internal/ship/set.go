package ship

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-dev/slipway/internal/report"
)

// A Set is what one deployment of a project has in a cluster: the inventory of its objects, in kubectl's convention
// (ApplySet, KEP-3659). Each member has a label with the set's id; a ConfigMap, the parent, reports about which kinds
// and in which namespaces members are. The id follows from the parent's name, so that every checkout of a project means
// the same set.
type Set struct {
	Project   string // its name
	Part      string // which of the project's kustomizations is deployed; empty for the usual one
	Namespace string // of the parent; empty means that of the kubeconfig
	Version   string // of slipway

	// DefinitionsOnly is for those who bring and remove the project's definitions alone: other members are left as they
	// are. There need be no namespace yet for a parent, and definitions are found without one.
	DefinitionsOnly bool

	// Makes names objects in the set's namespaces that its programs make by themselves, like "secret/NAMESPACE/NAME".
	// They go with their namespace, and are no use of it by others.
	Makes []string

	// Samples are objects of the set's kinds that the project has for users to try. Who removes the kinds means those
	// that `kubectl apply` made of them. Those without a namespace are in that of the kubeconfig.
	Samples []*unstructured.Unstructured
}

// What the convention calls its labels and annotations.
const (
	partOfLabel          = "applyset.kubernetes.io/part-of"
	setLabel             = "applyset.kubernetes.io/id"
	toolingAnnotation    = "applyset.kubernetes.io/tooling"
	kindsAnnotation      = "applyset.kubernetes.io/contains-group-kinds"
	namespacesAnnotation = "applyset.kubernetes.io/additional-namespaces"
)

// tool is how slipway is called in parents; a set of another tool is not touched.
const tool = "slipway"

var (
	configMapKind = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	namespaceKind = schema.GroupKind{Kind: "Namespace"}
)

// manager is the owner of the fields that a set's deployment applies.
func (s *Set) manager() string {
	if s == nil || s.Project == "" {
		return FieldManager
	}
	return FieldManager + ":" + s.Project
}

// parentName is the name of the set's parent.
func (s *Set) parentName() string {
	name := tool + "-" + s.Project
	if s.Part != "" {
		name += "-" + s.Part
	}
	return name
}

// id is what the set's members have in their label.
func (s *Set) id() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{s.parentName(), s.Namespace, configMapKind.Kind, configMapKind.Group}, ".")))
	return "applyset-" + base64.RawURLEncoding.EncodeToString(sum[:]) + "-v1"
}

// parent is the set's parent for members of some kinds in some namespaces.
func (s *Set) parent(kinds []schema.GroupKind, namespaces []string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(configMapKind)
	object.SetName(s.parentName())
	object.SetNamespace(s.Namespace)
	object.SetLabels(map[string]string{setLabel: s.id()})
	var names []string
	for _, kind := range kinds {
		names = append(names, kind.String())
	}
	object.SetAnnotations(map[string]string{
		toolingAnnotation:    tool + "/" + cmp.Or(s.Version, "v0.0.0"),
		kindsAnnotation:      listed(names),
		namespacesAnnotation: listed(slices.DeleteFunc(slices.Clone(namespaces), func(n string) bool { return n == s.Namespace })),
	})
	return object
}

// listed joins names as the convention has it.
func listed(names []string) string {
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "" })
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ",")
}

// unlisted is the reverse of listed.
func unlisted(text string) []string {
	return slices.DeleteFunc(strings.Split(text, ","), func(n string) bool { return n == "" })
}

// scope is what a set's parent has of its members: their kinds, the namespaces that have some, and the members that are
// known.
type scope struct {
	kinds      map[schema.GroupKind]bool
	namespaces map[string]bool
	members    roster
}

func newScope() scope { return scope{map[schema.GroupKind]bool{}, map[string]bool{}, roster{}} }

// add adds the kinds and namespaces of objects.
func (s scope) add(objects ...*unstructured.Unstructured) {
	for _, object := range objects {
		s.kinds[kindOf(object)] = true
		if namespace := object.GetNamespace(); namespace != "" {
			s.namespaces[namespace] = true
		}
	}
}

// addParent adds what a parent, which may be nil, says of its set.
func (s scope) addParent(parent *unstructured.Unstructured) {
	if parent == nil {
		return
	}
	for _, name := range unlisted(parent.GetAnnotations()[kindsAnnotation]) {
		s.kinds[schema.ParseGroupKind(name)] = true
	}
	for _, name := range unlisted(parent.GetAnnotations()[namespacesAnnotation]) {
		s.namespaces[name] = true
	}
	s.namespaces[parent.GetNamespace()] = true
	maps.Copy(s.members, rosterOf(parent))
}

// parentOf is the set's parent for the scope.
func (s scope) parentOf(set *Set) *unstructured.Unstructured {
	parent := set.parent(slices.Collect(maps.Keys(s.kinds)), slices.Collect(maps.Keys(s.namespaces)))
	parent.Object["data"] = map[string]any{listKey: s.members.String()}
	return parent
}

// errForeignSet is why a set is not touched.
var errForeignSet = errors.New("another tool owns the set of objects")

// liveParent is a set's parent as the cluster has it; nil if it has none. One that another tool keeps is an error.
func (c *Cluster) liveParent(ctx context.Context, set *Set) (*unstructured.Unstructured, error) {
	wanted := set.parent(nil, nil)
	resource, wanted, err := c.locate(ctx, wanted, 0)
	if err != nil {
		return nil, c.explainObject(ctx, wanted, err)
	}
	live, err := resource.Get(ctx, wanted.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, c.explainObject(ctx, wanted, err)
	}
	by, _, _ := strings.Cut(live.GetAnnotations()[toolingAnnotation], "/")
	if by == tool && live.GetLabels()[setLabel] == set.id() {
		return live, nil
	}
	return nil, &report.Error{
		Class: report.Conflict,
		What:  "another tool owns the object for this deployment's inventory", Where: nameOf(live), Object: refOf(live), Err: errForeignSet,
		Hint: fmt.Sprintf("its owner is %q; rename or delete it, or deploy into another namespace", live.GetAnnotations()[toolingAnnotation]),
		Next: kubectl(live, "describe"),
	}
}

// inNamespace is the set with its namespace filled in.
func (s *Set) inNamespace(usual string) *Set {
	if s == nil {
		return nil
	}
	filled := *s
	filled.Namespace = cmp.Or(s.Namespace, usual, metav1.NamespaceDefault)
	return &filled
}

// SetNamespace is the namespace in which the inventory of objects belongs: that of their workloads, else of another
// object. It is empty if they name none.
func SetNamespace(objects []*unstructured.Unstructured) string {
	var first, space string
	for _, object := range InInstallOrder(objects) {
		switch {
		case object.GetNamespace() != "" && runsPods(object):
			return object.GetNamespace()
		case kindOf(object) == namespaceKind:
			space = cmp.Or(space, object.GetName())
		default:
			first = cmp.Or(first, object.GetNamespace())
		}
	}
	return cmp.Or(first, space)
}
