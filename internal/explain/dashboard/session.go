package dashboard

import (
	"cmp"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// failure is the answer to a request that is refused.
type failure struct {
	Error string `json:"error"`
	Next  string `json:"next,omitempty"`
}

// anew is what opens another session.
const anew = "slipway explain --web"

func refuse(w http.ResponseWriter, status int, f failure) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(f) // who has gone needs no answer
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value)
}

// same compares in a time that says nothing of where two differ.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// session gives the key to who has the token, once.
func (s *Server) session(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Token string `json:"token"`
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(headTimeout))
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		refuse(w, http.StatusBadRequest, failure{Error: "the token cannot be read"})
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token == "" || !same(asked.Token, s.token) {
		refuse(w, http.StatusForbidden, failure{"this link has been used, or is another server's", anew})
		return
	}
	s.token, s.key = "", cmp.Or(s.key, rand.Text())
	answer(w, map[string]string{"key": s.key})
}

// authorized refuses requests without the key.
func (s *Server) authorized(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		given, is := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		s.mu.Lock()
		key := s.key
		s.mu.Unlock()
		if !is || key == "" || !same(given, key) {
			refuse(w, http.StatusUnauthorized, failure{"this session has ended", anew})
			return
		}
		next(w, r)
	}
}
