package impersonation

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

const (
	jsonType     = "application/json;as=Table;v=v1;g=meta.k8s.io"
	protobufType = "application/vnd.kubernetes.protobuf"
)

func TestJSON(t *testing.T) {
	for text, want := range map[string][2]string{
		`{"kind":"Pod","metadata":{"name":"a","uid":"b","resourceVersion":"7","labels":{}},"spec":{}}`:                            {"a", "7"},
		`{"metadata":{"labels":{"name":"b","resourceVersion":"6"},"name":"a","resourceVersion":"7","uid":"resourceVersion"}}`:     {"a", "7"},
		`{"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a","resourceVersion":"6"}}]}`:         {"", "7"},
		`{"items":[{"metadata":{"name":"a","resourceVersion":"6"}}],"kind":"L","metadata":{"continue":"","resourceVersion":"7"}}`: {"", "7"},
		"{\n \"metadata\" : {\n \"name\" : \"a\" ,\n \"resourceVersion\" : \"7\" } }":                                             {"a", "7"},
		`{"metadata":{"a":"\"},\"resourceVersion\":\"6\"","resourceVersion":"7"}}`:                                                {"", "7"},
		`{"spec":{"resourceVersion":"6","name":"b"},"metadata":{"creationTimestamp":null}}`:                                       {},
		`{"metadata":{"name":"\u0061","resourceVersion":7}}`:                                                                      {},
		`{"metadata":{"name":null,"uid":"b"}}`:                                                                                    {},
		`{"metadata":["name","b"]}`:                                                                                               {},
		`["metadata",{"name":"b"}]`:                                                                                               {},
		`{}{"metadata":{"name":"b"}}`:                                                                                             {},
		`}{"metadata":{"name":"b"}}`:                                                                                              {},
		`{"metadata":{"name":"` + strings.Repeat("a", maxWord+1) + `"}}`:                                                          {},
		`{"data":"` + strings.Repeat("x", maxJSON) + `","metadata":{"name":"b"}}`:                                                 {},
		``: {},
	} {
		for _, size := range []int{1, 3, len(text) + 1} {
			if got := readAll(jsonType, text, size); got != want {
				t.Errorf("%.200s in pieces of %d: %q, want %q", text, size, got, want)
			}
		}
	}
}

// encode is an answer in protobuf, as API servers write it.
func encode(t testing.TB, object runtime.Object) string {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	metav1.AddToGroupVersion(scheme, corev1.SchemeGroupVersion)
	var text strings.Builder
	if err := protobuf.NewSerializer(scheme, scheme).Encode(object, &text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func configMap(name, version string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Name: name, GenerateName: name, Namespace: "default", UID: "u", ResourceVersion: version, Generation: 300, Annotations: map[string]string{"a": strings.Repeat("long", 1000)}},
		Data:       map[string]string{"name": "b"},
	}
}

func TestProtobuf(t *testing.T) {
	long := strings.Repeat("n", maxWord)
	list := &corev1.ConfigMapList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMapList"}, ListMeta: metav1.ListMeta{ResourceVersion: "8"}, Items: []corev1.ConfigMap{*configMap("a", "7")}}
	status := &metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Success"}
	whole := encode(t, configMap("a", "1234567"))
	for text, want := range map[string][2]string{
		encode(t, configMap(long, "7")):           {long, "7"},
		encode(t, list):                           {"", "8"},
		encode(t, status):                         {},
		whole[:strings.Index(whole, "1234567")+3]: {"a", ""},
		"k8s\x00":         {},
		"k8s\x00\x0b\xff": {},
		whole[1:]:         {},
	} {
		for _, size := range []int{1, 100, len(text) + 1} {
			if got := readAll(protobufType, text, size); got != want {
				t.Errorf("%.60q in pieces of %d: %q, want %q", text, size, got, want)
			}
		}
	}
	if got := readAll("text/plain", whole, 100); got != [2]string{} {
		t.Errorf("of a text: %q", got)
	}
}

// FuzzMetadata: whatever comes, in whatever pieces, the same is found, and only what is there.
func FuzzMetadata(f *testing.F) {
	f.Add(`{"metadata":{"name":"a","resourceVersion":"7"}}`, 3)
	f.Add(`{"items":[{}],"metadata":{"a":[{"b":"\""}],"resourceVersion":"7"}}`, 2)
	f.Add(encode(f, configMap("a", "7")), 5)
	f.Fuzz(func(t *testing.T, text string, size int) {
		size = min(max(size, 1), 1<<16)
		for _, form := range []string{jsonType, protobufType} {
			whole, pieces := readAll(form, text, len(text)+1), readAll(form, text, size)
			if whole != pieces {
				t.Errorf("%s: %q at once, %q in pieces", form, whole, pieces)
			}
			for _, word := range whole {
				if len(word) > maxWord || !strings.Contains(text, word) {
					t.Errorf("%s: %q is found in %q", form, word, text)
				}
			}
		}
	})
}
