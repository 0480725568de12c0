package ship

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// TestStayingOnLaterPages: an object that stays is found behind a page of those that go, and no more are read than are
// counted.
func TestStayingOnLaterPages(t *testing.T) {
	const size, pages = 10, 1000
	read := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		read++
		page, _ := strconv.Atoi(r.URL.Query().Get("continue"))
		next := ""
		if r.URL.Query().Get("limit") != "" && page+1 < pages {
			next = strconv.Itoa(page + 1)
		}
		var items []any
		for i := range size {
			items = append(items, map[string]any{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": map[string]any{"name": strconv.Itoa(page*size + i), "namespace": "a"}})
		}
		w.Header().Set("Content-Type", "application/json")
		answer := map[string]any{"apiVersion": "example.com/v1", "kind": "ThingList", "metadata": map[string]any{"continue": next}, "items": items}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	client, err := dynamic.NewForConfig(&rest.Config{Host: server.URL, QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	things := client.Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "things"})
	names, err := staying(t.Context(), things, func(o *unstructured.Unstructured) bool { return o.GetName() == "9995" })
	if err != nil || !slices.Equal(names, []string{"thing/a/9995"}) || read != pages {
		t.Errorf("%q, %v after %d pages", names, err, read)
	}
	read = 0
	names, err = staying(t.Context(), things, func(*unstructured.Unstructured) bool { return true })
	if err != nil || len(names) != maxUses+1 || read > pages/2 {
		t.Errorf("%d objects, %v after %d pages", len(names), err, read)
	}
}
