package stock

import (
	"context"
	"errors"
	"maps"
	"testing"

	extensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/fake"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clienttesting "k8s.io/client-go/testing"

	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
)

// TestDefineAll: what the server refuses for good is asked for once and left out, what passes is asked for again, and
// nothing before the server lists definitions.
func TestDefineAll(t *testing.T) {
	resource := schema.GroupResource{Group: extensionsv1.GroupName, Resource: "customresourcedefinitions"}
	kind := schema.GroupKind{Group: extensionsv1.GroupName, Kind: "CustomResourceDefinition"}
	answers := map[string][]error{ // to each try; none more is success
		"good.example.com":     {},
		"invalid.example.com":  {apierrors.NewInvalid(kind, "invalid.example.com", field.ErrorList{field.Required(field.NewPath("spec"), "")})},
		"request.example.com":  {apierrors.NewRequestEntityTooLargeError("limit is 3145728")},
		"stored.example.com":   {apierrors.NewInternalError(errors.New("etcdserver: request is too large"))},
		"bad.example.com":      {apierrors.NewBadRequest("no such field")},
		"busy.example.com":     {apierrors.NewTooManyRequests("wait", 1), apierrors.NewServiceUnavailable("starting")},
		"slow.example.com":     {apierrors.NewServerTimeout(resource, "create", 1), apierrors.NewTimeoutError("slow", 1)},
		"unanswered.test.com":  {errors.New("connection refused")},
		"known.example.com":    {apierrors.NewAlreadyExists(resource, "known.example.com")},
		"forbidden.example.co": {apierrors.NewForbidden(resource, "forbidden.example.co", errors.New("no"))},
	}
	want := map[string]int{
		"good.example.com": 1, "invalid.example.com": 1, "request.example.com": 1, "stored.example.com": 1, "bad.example.com": 1,
		"busy.example.com": 3, "slow.example.com": 3, "unanswered.test.com": 2, "known.example.com": 1, "forbidden.example.co": 1,
	}
	client := fake.NewClientset()
	lists, tries := 0, map[string]int{}
	client.PrependReactor("list", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		lists++
		if lists < 3 {
			return true, nil, apierrors.NewNotFound(resource, "")
		}
		return true, &extensionsv1.CustomResourceDefinitionList{}, nil
	})
	client.PrependReactor("create", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		d := action.(clienttesting.CreateAction).GetObject().(*extensionsv1.CustomResourceDefinition)
		if lists < 3 {
			t.Errorf("%s was created before the server was there", d.Name)
		}
		tries[d.Name]++
		if try := tries[d.Name] - 1; try < len(answers[d.Name]) {
			return true, nil, answers[d.Name][try]
		}
		return true, d, nil
	})
	client.PrependReactor("get", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		d := definitionNamed(action.(clienttesting.GetAction).GetName())
		d.Status.Conditions = []extensionsv1.CustomResourceDefinitionCondition{{Type: extensionsv1.Established, Status: extensionsv1.ConditionTrue}}
		return true, d, nil
	})
	var list []*extensionsv1.CustomResourceDefinition
	for name := range answers {
		list = append(list, definitionNamed(name))
	}
	ctx, cancel := context.WithTimeout(t.Context(), testlimit.Hang)
	defer cancel()
	if err := defineAll(ctx, client, list); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(tries, want) {
		t.Errorf("asked for %v; want %v", tries, want)
	}
}

func definitionNamed(name string) *extensionsv1.CustomResourceDefinition {
	d := &extensionsv1.CustomResourceDefinition{}
	d.Name = name
	return d
}
