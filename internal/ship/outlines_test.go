package ship

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// inProtobuf is an answer of the API server.
func inProtobuf(t *testing.T, kind string, list metav1.PartialObjectMetadataList) []byte {
	t.Helper()
	raw, err := list.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	envelope := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: kind}, Raw: raw}
	text, err := envelope.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return append([]byte(protobufMagic), text...)
}

// TestOutlines: both encodings have the same owners, finalizers and deletions; what is broken is an error.
func TestOutlines(t *testing.T) {
	deleted := metav1.NewTime(time.Unix(1_800_000_000, 0))
	want := []metav1.ObjectMeta{
		{Name: "a", Namespace: "ns", UID: "1", OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "2"}, {UID: "3"}}},
		{Name: "b", Namespace: "ns", UID: "4", DeletionTimestamp: &deleted, Finalizers: []string{"example.com/x", "example.com/y"}},
	}
	var list metav1.PartialObjectMetadataList
	for _, meta := range want {
		meta.Labels, meta.Annotations, meta.ResourceVersion = map[string]string{"l": "v"}, map[string]string{"a": "v"}, "17"
		meta.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m", FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{}}`)}}
		list.Items = append(list.Items, metav1.PartialObjectMetadata{ObjectMeta: meta})
	}
	read := func(text []byte) (all []metav1.ObjectMeta, err error) {
		err = outlines(text, func(meta metav1.ObjectMeta) { all = append(all, meta) })
		return all, err
	}
	binary := inProtobuf(t, "PartialObjectMetadataList", list)
	if got, err := read(binary); err != nil || !cmp.Equal(got, want) {
		t.Errorf("in protobuf: %v\n%s", err, cmp.Diff(want, got))
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	got, err := read(text)
	for i := range got {
		if got[i].Name != want[i].Name || !cmp.Equal(got[i].OwnerReferences, want[i].OwnerReferences) || !cmp.Equal(got[i].Finalizers, want[i].Finalizers) {
			t.Errorf("in JSON, %d: %+v", i, got[i])
		}
	}
	if err != nil || len(got) != len(want) {
		t.Errorf("in JSON: %d objects, %v", len(got), err)
	}
	for name, broken := range map[string][]byte{
		"empty": nil, "cut": binary[:len(binary)-3], "magic": protobufMagic, "HTML": []byte("<html>"), "another kind": inProtobuf(t, "Status", list),
	} {
		if _, err := read(broken); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
