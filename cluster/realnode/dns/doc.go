// Package dns answers the questions of pods for names of the cluster, as CoreDNS does elsewhere: Services, headless
// ones with the hostnames of their pods, ExternalName, SRV records of named ports, addresses of pods, and the names of
// Services' addresses.
//
//	server := dns.New(informers, "cluster.local", log)
//	go server.Serve(packetConn)
//	go server.ServeTCP(listener)
//
// Addresses are answered as their family has them, A or AAAA. The server treats all that pods send as hostile.
// Questions have a limit of size. Connections have a limit of number, in all and for each pod. A fault while a question
// is answered ends that answer alone.
//
// Names outside of the cluster do not exist: pods have no way to them. The answer says so in an extended error (RFC
// 8914), and [Server.FollowOutside] reports the question.
package dns
