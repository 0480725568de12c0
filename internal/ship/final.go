package ship

import (
	"context"
	"errors"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/report"
)

// This file explains refusals that no waiting and no second try changes.

const (
	// invalidAuthority is the reason for which the API server does not serve a definition whose conversion has a
	// caBundle without a certificate.
	invalidAuthority = "InvalidCABundle"
	// authorityField is what it calls that field when it refuses a change.
	authorityField = "spec.conversion.webhookClientConfig.caBundle"
)

// explainAuthority says what to do about a caBundle without a certificate, such as the placeholder of older projects.
func explainAuthority(e *report.Error, definition *unstructured.Unstructured) {
	e.What = "the API server does not serve the CRD: spec.conversion.webhook.clientConfig.caBundle has no certificate"
	e.Hint = "remove caBundle from the manifest or patch that sets it: "
	if from := definition.GetAnnotations()[injectionAnnotation]; from != "" {
		e.Hint += "cert-manager writes that of the Certificate " + from
	} else {
		e.Hint += "the operator, or cert-manager by the annotation " + injectionAnnotation + ", writes it; without a conversion webhook, remove spec.conversion"
	}
	e.Next = "grep -rn caBundle config"
}

// explainInvalid says of an object that the server refuses for what is in it whether other content would help.
func (c *Cluster) explainInvalid(ctx context.Context, e *report.Error, object *unstructured.Unstructured, err error) {
	causes := causesOf(err)
	if slices.ContainsFunc(causes, func(c metav1.StatusCause) bool { return c.Field == authorityField }) {
		explainAuthority(e, object)
		return
	}
	var fields, rules []string
	for _, cause := range causes {
		if !slices.Contains(fields, cause.Field) {
			fields = append(fields, cause.Field)
		}
		if !strings.HasSuffix(cause.Message, validation.FieldImmutableErrorMsg) {
			rule, _, _ := strings.Cut(cause.Message, "\n") // the difference follows, as Go values
			rules = append(rules, rule)
		}
	}
	if len(fields) == 0 || len(rules) > 0 && !c.recreatable(ctx, object) {
		return
	}
	e.What, e.Err = "immutable fields would change: "+strings.Join(fields, ", "), nil
	if len(rules) > 0 {
		e.Err = errors.New(strings.Join(rules, "; "))
	}
	c.adviseRecreation(ctx, e, object)
}

// recreatable reports whether the server would take an object that is there if it were new: then what it refuses is the
// change.
func (c *Cluster) recreatable(ctx context.Context, object *unstructured.Unstructured) bool {
	live, err := c.found(ctx, object)
	return err == nil && live != nil && c.creatable(ctx, object) == nil
}

// creatable is why the server would not take an object if it were new; nil if it would.
func (c *Cluster) creatable(ctx context.Context, object *unstructured.Unstructured) error {
	resource, another, err := c.locate(ctx, object, 0)
	if err != nil {
		return err
	}
	another = another.DeepCopy()
	another.SetGenerateName(object.GetName() + "-")
	another.SetName("")
	_, err = resource.Create(ctx, another, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldManager: FieldManager, FieldValidation: metav1.FieldValidationStrict})
	return err
}

// isImmutable reports whether the server refused an object for a field that cannot change.
func isImmutable(err error) bool {
	return slices.ContainsFunc(causesOf(err), func(cause metav1.StatusCause) bool {
		return strings.HasSuffix(cause.Message, validation.FieldImmutableErrorMsg)
	})
}

// adviseRecreation says how an object is recreated, and what goes with it.
func (c *Cluster) adviseRecreation(ctx context.Context, e *report.Error, object *unstructured.Unstructured) {
	e.Hint, e.Next = "the object must be recreated: delete it, then apply it again", kubectl(object, "delete")
	data, err := c.holdsData(ctx, object)
	switch {
	case kindOf(object) == crdKind:
		plural, _, _ := unstructured.NestedString(object.Object, "spec", "names", "plural")
		e.Hint += "; all objects of its kind are deleted with it, so save them first"
		e.Next = "slipway kubectl get " + plural + "." + definedKind(object).Group + " --all-namespaces -o yaml"
	case kindOf(object).String() == "StatefulSet.apps" && !storesData(object):
		e.Hint += "; with --cascade=orphan its pods go on until then"
		e.Next += " --cascade=orphan"
	case data || err != nil:
		e.Hint += "; what is in it, or what its operator made for it, is deleted with it, so save that first"
		e.Next = kubectl(object, "get") + " -o yaml"
	}
}
