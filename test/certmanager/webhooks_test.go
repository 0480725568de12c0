package main

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// webhooks has the API server ask all webhooks, by their Service.
func (o operator) webhooks(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	plain := frigate("v1", "")
	eventually(t, "defaulting", func(ctx context.Context) error { // until the API server has heard of the authority
		return o.Create(ctx, plain)
	})
	if foo, _, _ := unstructured.NestedString(plain.Object, "spec", "foo"); foo != "nobody" {
		t.Errorf("foo is %q, not the default", foo)
	}

	err := o.Create(ctx, frigate("v1", "bad"))
	if fields := refused(err); !apierrors.IsInvalid(err) || len(fields) != 1 || fields[0] != "spec.foo" {
		t.Errorf("a bad object: %v (fields %v)", err, fields)
	}

	second := frigate("v2", "rover")
	eventually(t, "conversion", func(ctx context.Context) error { return o.Create(ctx, second) })
	first := frigate("v1", "")
	if err := o.Get(ctx, client.ObjectKeyFromObject(second), first); err != nil {
		t.Fatal(err)
	}
	if foo, _, _ := unstructured.NestedString(first.Object, "spec", "foo"); foo != "rover" {
		t.Errorf("title rover of v2 is foo %q in v1", foo)
	}
	if err := o.Create(ctx, frigate("v2", "bad")); !apierrors.IsInvalid(err) {
		t.Errorf("a bad object of v2: %v", err)
	}
}

// refused are the fields on account of which an object was refused.
func refused(err error) (fields []string) {
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Details != nil {
		for _, cause := range status.Status().Details.Causes {
			fields = append(fields, cause.Field)
		}
	}
	return fields
}

// frigate is a new one of that name for people, if any.
func frigate(version, title string) *unstructured.Unstructured {
	field := map[string]string{"v1": "foo", "v2": "title"}[version]
	spec := map[string]any{}
	if title != "" {
		spec[field] = title
	}
	f := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "ship.example.com/" + version, "kind": "Frigate", "spec": spec,
	}}
	f.SetNamespace(metav1.NamespaceDefault)
	f.SetName(fmt.Sprintf("f-%d", time.Now().UnixNano()))
	return f
}
