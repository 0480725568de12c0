package kustomization

import (
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// authorityAnnotation names the Certificate whose authority cert-manager writes into an object.
const authorityAnnotation = "cert-manager.io/inject-ca-from"

// followNames corrects hosts of Services, and names of Certificates to inject authorities from, that a base put
// together before an overlay gave its objects another namespace: kustomize follows references, and these are texts.
func (b *completion) followNames() {
	var namespaces []string
	for _, namespace := range b.from.namespaces {
		namespaces = append(namespaces, regexp.QuoteMeta(namespace))
	}
	if len(namespaces) == 0 {
		return
	}
	host := regexp.MustCompile(`\b([a-z0-9][a-z0-9-]*)\.(` + strings.Join(namespaces, "|") + `)\.svc\b`)
	for _, object := range b.objects {
		if from := object.GetAnnotations()[authorityAnnotation]; from != "" {
			namespace, name, _ := strings.Cut(from, "/")
			if now := b.renamed("Certificate", namespace, name); now != nil {
				annotations := object.GetAnnotations()
				annotations[authorityAnnotation] = now.GetNamespace() + "/" + now.GetName()
				object.SetAnnotations(annotations)
				b.sayRenamed(object, from, annotations[authorityAnnotation])
			}
		}
		if object.GetKind() == "CustomResourceDefinition" {
			continue // its texts are descriptions
		}
		object.Object = editTexts(object.Object, func(text string) string {
			return host.ReplaceAllStringFunc(text, func(before string) string {
				parts := strings.SplitN(before, ".", 3)
				now := b.renamed("Service", parts[1], parts[0])
				if now == nil {
					return before
				}
				after := now.GetName() + "." + now.GetNamespace() + ".svc"
				b.sayRenamed(object, before, after)
				return after
			})
		}).(map[string]any)
	}
}

func (b *completion) sayRenamed(object *unstructured.Unstructured, before, after string) {
	b.say("%s %s names %s, which the base has: changed to %s", object.GetKind(), object.GetName(), before, after)
}

// renamed is the only object of a kind that had a name in a namespace of a base, and is in another one now, where its
// name may have a prefix more. It is nil if an object still has the name there, or if several may have had it.
func (b *completion) renamed(kind, namespace, name string) *unstructured.Unstructured {
	if !slices.Contains(b.from.namespaces, namespace) {
		return nil
	}
	var found []*unstructured.Unstructured
	for _, object := range b.objects {
		switch {
		case object.GetKind() != kind || !strings.HasSuffix(object.GetName(), name):
		case object.GetNamespace() == namespace:
			if object.GetName() == name {
				return nil
			}
		default:
			found = append(found, object)
		}
	}
	if len(found) != 1 {
		return nil
	}
	return found[0]
}

// editTexts is a value as JSON has it, with all texts edited.
func editTexts(value any, edit func(string) string) any {
	switch value := value.(type) {
	case string:
		return edit(value)
	case map[string]any:
		for key, inner := range value {
			value[key] = editTexts(inner, edit)
		}
	case []any:
		for i, inner := range value {
			value[i] = editTexts(inner, edit)
		}
	}
	return value
}
