package apiserver

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
)

const selfReview = `{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`

func newSelfReview() *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/apis/authentication.k8s.io/v1/selfsubjectreviews", strings.NewReader(selfReview))
	r.Header.Set("Content-Type", "application/json")
	return r
}

// TestHandlerAs: the chain sees the user whom this process has decided, also where a request has credentials of another
// one, even the server's own.
func TestHandlerAs(t *testing.T) {
	s := theServer(t)
	who := &user.DefaultInfo{Name: "somebody", Groups: []string{"some", user.AllAuthenticated}}
	handler := s.HandlerAs(who)
	for name, header := range map[string]http.Header{
		"without credentials": {}, "with a token of all rights": {"Authorization": {"Bearer " + s.Loopback().BearerToken}},
		"with a wrong token": {"Authorization": {"Bearer x"}}, "with a front proxy's headers": {"X-Remote-User": {"admin"}},
	} {
		r, w := newSelfReview(), httptest.NewRecorder()
		for key, values := range header {
			r.Header[key] = values
		}
		handler.ServeHTTP(w, r)
		var review authenticationv1.SelfSubjectReview
		if err := json.Unmarshal(w.Body.Bytes(), &review); err != nil || w.Code != http.StatusCreated {
			t.Fatalf("%s: %d %s", name, w.Code, w.Body)
		}
		if u := review.Status.UserInfo; u.Username != who.Name || !slices.Equal(u.Groups, who.Groups) {
			t.Errorf("%s: %+v", name, u)
		}
	}
}

// TestOwnRequests: a client in this process is itself, also while it works on behalf of a decided user.
func TestOwnRequests(t *testing.T) {
	s := theServer(t)
	ctx := withIdentity(t.Context(), &user.DefaultInfo{Name: "somebody", Groups: []string{user.AllAuthenticated}})
	review, err := s.client(t).AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil || review.Status.UserInfo.Username != user.APIServerUser {
		t.Errorf("with a token: %+v, %v", review, err)
	}
	answer, err := s.inside.RoundTrip(newSelfReview().WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	if err := answer.Body.Close(); err != nil {
		t.Error(err)
	}
	if answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a token: status %d", answer.StatusCode)
	}
}
