package dns

import "log/slog"

// Reply answers a message without seeing to faults.
func Reply(s *Server, message []byte, limit int) []byte {
	reply, _ := s.reply(message, limit, nil, true)
	return reply
}

// Broken returns a server that has a fault with each question for a Service: it knows of no lists.
func Broken(log *slog.Logger) *Server {
	return &Server{names: names{domain: "cluster.local"}, log: log}
}

// MostLookupsOfOne is how many lookups one client has under way at a time.
const MostLookupsOfOne = mostLookupsOfOne
