package apiserver

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/mux"
)

// standing is a server as far as a front knows one: it answers all with its name.
func standing(name string) *genericapiserver.GenericAPIServer {
	return &genericapiserver.GenericAPIServer{Handler: &genericapiserver.APIServerHandler{
		FullHandlerChain: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(name)) }),
		NonGoRestfulMux:  mux.NewPathRecorderMux(name),
	}}
}

// TestFrontLetsGo: connections that outlive the server hold the front, which knows nothing of the server then.
func TestFrontLetsGo(t *testing.T) {
	server := standing("here")
	f := newFront(server, nil, nil)
	if server.Handler.FullHandlerChain != http.Handler(f) {
		t.Fatal("the front does not stand before the server")
	}
	ask := func() *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		server.Handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", strings.NewReader("")))
		return w
	}
	if w := ask(); w.Code != http.StatusOK || w.Body.String() != "here" {
		t.Errorf("while it runs: %d %s", w.Code, w.Body)
	}
	f.letGo()
	if w := ask(); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "ended") {
		t.Errorf("after its end: %d %s", w.Code, w.Body)
	}
	if f.handler.Director != nil || f.handler.GoRestfulContainer != nil || len(f.handler.NonGoRestfulMux.ListedPaths()) != 0 {
		t.Error("it still holds the server's handlers")
	}
}

// TestFrontTellsOfLargeObjects: the size is that which the request announces.
func TestFrontTellsOfLargeObjects(t *testing.T) {
	told := 0
	server := standing("here")
	f := newFront(server, func() { told++ }, nil)
	for _, tt := range []struct {
		length int64
		told   int
	}{{0, 0}, {largeObject - 1, 0}, {-1, 0}, {largeObject, 1}, {largeObject * 4, 1}} {
		told = 0
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.ContentLength = tt.length
		f.ServeHTTP(httptest.NewRecorder(), r)
		if told != tt.told {
			t.Errorf("%d bytes: told %d times, want %d", tt.length, told, tt.told)
		}
	}
}
