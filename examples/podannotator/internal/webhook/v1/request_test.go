// Copyright 2026 The podannotator authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// ask sends a body to the webhook as the API server does.
func ask(t *testing.T, body string) *admissionv1.AdmissionResponse {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, Path, strings.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	admission.WithDefaulter(clientgoscheme.Scheme, &PodDefaulter{}).ServeHTTP(recorder, request)
	var review admissionv1.AdmissionReview
	if err := json.Unmarshal(recorder.Body.Bytes(), &review); err != nil || review.Response == nil {
		t.Fatalf("answered %s, %v", recorder.Body, err)
	}
	return review.Response
}

// review is a request's body.
func review(operation, object, oldObject string) string {
	return `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","operation":"` + operation + `",` +
		`"userInfo":{"username":"jane"},"object":` + object + `,"oldObject":` + oldObject + `}}`
}

// The same request twice gives the same object, and one about the result changes nothing: the API server may ask again
// after another webhook.
func TestAskedAgain(t *testing.T) {
	t.Parallel()
	for name, pod := range map[string]string{
		"bare":          `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":null},"status":{}}`,
		"annotated":     `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","annotations":{"b":"c"}},"spec":{"containers":null},"status":{}}`,
		"forged":        `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","annotations":{"` + CreatedBy + `":"root"}},"spec":{"containers":null},"status":{}}`,
		"of the future": `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"name":"c","newField":1}],"new":{"a":[1]}},"status":{}}`,
	} {
		t.Run(name, func(t *testing.T) {
			first, second := apply(t, pod), apply(t, pod)
			if first != second || !strings.Contains(first, `"`+CreatedBy+`":"jane"`) {
				t.Errorf("the first answer is\n%s, the second\n%s", first, second)
			}
			if again := apply(t, first); again != first {
				t.Errorf("asked about its own result\n%s, it makes\n%s", first, again)
			}
			if name == "of the future" && (!strings.Contains(first, `"newField":1`) || !strings.Contains(first, `"new":{"a":[1]}`)) {
				t.Errorf("fields that this version of the types does not know are lost: %s", first)
			}
		})
	}
}

// apply returns what becomes of a new Pod.
func apply(t *testing.T, pod string) string {
	t.Helper()
	answer := ask(t, review("CREATE", pod, "null"))
	if !answer.Allowed {
		t.Fatalf("refused: %v", answer.Result)
	}
	if len(answer.Patch) == 0 {
		return pod
	}
	patch, err := jsonpatch.DecodePatch(answer.Patch)
	if err != nil {
		t.Fatal(err)
	}
	patched, err := patch.Apply([]byte(pod))
	if err != nil {
		t.Fatal(err)
	}
	return string(patched)
}

// What cannot be read is refused, and does not end the server.
func TestBadInput(t *testing.T) {
	t.Parallel()
	const pod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}`
	for name, test := range map[string]struct {
		body string
		code int32
		want string
	}{
		"empty":         {"", http.StatusBadRequest, "there is no content to decode"},
		"no JSON":       {"pod", http.StatusBadRequest, "json parse error"},
		"no object":     {review("CREATE", "null", "null"), http.StatusBadRequest, "there is no content to decode"},
		"another kind":  {review("CREATE", `{"apiVersion":"v1","kind":"Service"}`, "null"), http.StatusBadRequest, "Service"},
		"wrong types":   {review("CREATE", `{"apiVersion":"v1","kind":"Pod","metadata":[]}`, "null"), http.StatusBadRequest, "metadata"},
		"no stored one": {review("UPDATE", pod, "null"), http.StatusForbidden, "read the stored Pod"},
	} {
		t.Run(name, func(t *testing.T) {
			answer := ask(t, test.body)
			if answer.Allowed || answer.Result.Code != test.code || !strings.Contains(answer.Result.Message, test.want) {
				t.Errorf("answered %t, %v; want %d with %q", answer.Allowed, answer.Result, test.code, test.want)
			}
		})
	}
}

// Without a request there is nothing to know.
func TestNoRequest(t *testing.T) {
	t.Parallel()
	if err := (&PodDefaulter{}).Default(t.Context(), nil); err == nil {
		t.Error("no error")
	}
}
