package frontdoor

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	jsonType     = "application/json;as=Table;v=v1;g=meta.k8s.io"
	protobufType = "application/vnd.kubernetes.protobuf"
)

// read reads an answer in pieces of a size.
func read(contentType string, answer []byte, size int) metadata {
	r := readerOf(contentType)
	for len(answer) > 0 {
		n := min(size, len(answer))
		r.read(answer[:n])
		answer = answer[n:]
	}
	return r.metadata()
}

func TestJSON(t *testing.T) {
	for text, want := range map[string]metadata{
		`{"kind":"Pod","metadata":{"name":"a","uid":"b","resourceVersion":"7","labels":{}},"spec":{}}`:                                    {"a", "7"},
		`{"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a","resourceVersion":"6"}}]}`:                 {"", "7"},
		`{"apiVersion":"v1","items":[{"metadata":{"name":"a","resourceVersion":"6"}}],"metadata":{"continue":"c","resourceVersion":"7"}}`: {"", "7"},
		`{ "metadata" : { "name" : "a" , "resourceVersion" : "7" } }`:                                                                     {"a", "7"},
		`{"metadata":{"annotations":{"resourceVersion":"6","a":"\"},\"resourceVersion\":\"6\""},"resourceVersion":"7"}}`:                  {"", "7"},
		`{"metadata":{"ownerReferences":[{"name":"b","resourceVersion":"6"}],"name":"a"},"status":{"resourceVersion":"6"}}`:               {"a", ""},
		`{"data":{"resourceVersion":"6"},"metadata":{"creationTimestamp":null}}`:                                                          {},
		`{"kind":"Status","metadata":{},"details":{"name":"b"}}`:                                                                          {},
		`{"metadata":{"resourceVersion":"\u0037"}}`:                                                                                       {},
		`{"metadata":{"resourceVersion":"` + strings.Repeat("7", maxWord+1) + `"}}`:                                                       {},
		`{"metadata":{"resourceVersion":7,"name":"a"}}`:                                                                                   {"a", ""},
		`{"metadata":"resourceVersion"}`:                                                                                                  {}, `["metadata",{"resourceVersion":"6"}]`: {}, `}{"metadata":{"resourceVersion":"6"}}`: {}, ``: {},
	} {
		for _, size := range []int{1, 3, len(text) + 1} {
			if got := read(jsonType, []byte(text), size); got != want {
				t.Errorf("%s in pieces of %d: %+v, want %+v", text, size, got, want)
			}
		}
	}
	late := `{"items":"` + strings.Repeat("x", maxJSON) + `","metadata":{"resourceVersion":"7"}}`
	if got := read(jsonType, []byte(late), 4096); got != (metadata{}) {
		t.Errorf("behind the bound: %+v", got)
	}
}

// encodings of objects in protobuf, as the API server sends them.
func protobuf(t testing.TB, kind string, object interface{ Marshal() ([]byte, error) }) []byte {
	t.Helper()
	raw, err := object.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	unknown := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: kind}, Raw: raw}
	text, err := unknown.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return append([]byte("k8s\x00"), text...)
}

func TestProtobuf(t *testing.T) {
	long := strings.Repeat("n", 253)
	object := metav1.ObjectMeta{
		Name: long, GenerateName: long, Namespace: "default", UID: "u", ResourceVersion: "7", Generation: 300, Labels: map[string]string{"a": strings.Repeat("b", 9000)},
	}
	for _, tt := range []struct {
		text []byte
		want metadata
	}{
		{protobuf(t, "ConfigMap", &corev1.ConfigMap{ObjectMeta: object}), metadata{long, "7"}},
		{protobuf(t, "ConfigMapList", &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "8"}, Items: []corev1.ConfigMap{{ObjectMeta: object}}}), metadata{"", "8"}},
		{protobuf(t, "Status", &metav1.Status{Message: "no"}), metadata{}},
		{[]byte("k8s\x00"), metadata{}},
		{[]byte(`{"metadata":{"resourceVersion":"7"}}`), metadata{}},
	} {
		for _, size := range []int{1, 1000, len(tt.text)} {
			if got := read(protobufType, tt.text, size); got != tt.want {
				t.Errorf("%.20q in pieces of %d: %+v, want %+v", tt.text, size, got, tt.want)
			}
		}
	}
	cut := protobuf(t, "ConfigMap", &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "1234567"}})
	end := strings.Index(string(cut), "1234567") + 3
	if got := read(protobufType, cut[:end], 100); got != (metadata{}) {
		t.Errorf("of a part of a version: %+v", got)
	}
	if got := read("text/plain", cut, 100); got != (metadata{}) {
		t.Errorf("of a text: %+v", got)
	}
}

// FuzzMetadata: whatever comes, in whatever pieces, the same is found, and only what is there.
func FuzzMetadata(f *testing.F) {
	f.Add([]byte(`{"metadata":{"name":"a","resourceVersion":"7"}}`), 3)
	f.Add([]byte(`{"items":[{}],"metadata":{"a":[{"b":"\""}],"resourceVersion":"7"}}`), 2)
	f.Add(protobuf(f, "ConfigMap", &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: "7"}}), 5)
	f.Add(protobuf(f, "ConfigMapList", &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}}), 1)
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		size = max(size, 1)
		for _, form := range []string{jsonType, protobufType} {
			whole, pieces := read(form, text, len(text)+1), read(form, text, size)
			if whole != pieces {
				t.Errorf("%s: %+v at once, %+v in pieces", form, whole, pieces)
			}
			if len(whole.name) > maxWord || len(whole.version) > maxWord {
				t.Errorf("%s: %+v is too long", form, whole)
			}
		}
		if found := read(jsonType, text, size); found.version != "" {
			for _, word := range []string{"metadata", "resourceVersion", found.version} {
				if !strings.Contains(string(text), `"`+word+`"`) {
					t.Errorf("%+v is found in %q, which has no %q", found, text, word)
				}
			}
		}
	})
}
