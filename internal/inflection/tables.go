package inflection

import "strings"

// A change is what becomes of some words in the plural: they lose an ending and get another.
type change struct {
	lost, got string
	words     string // between spaces
	alone     bool   // words that end like these change otherwise
	oneWay    bool   // the plural may be a singular too, and gets a plural then
}

// plural is the plural of a word that changes so.
func (c change) plural(word string) string { return strings.TrimSuffix(word, c.lost) + c.got }

// longestIn is the length of the longest ending of a word that is one of c's words, with another end for what they
// lose.
func (c change) longestIn(word, end string) (length int) {
	start, found := strings.CutSuffix(word, end)
	if !found {
		return 0
	}
	for w := range strings.SplitSeq(c.words, " ") {
		if kept := len(w) - len(c.lost); kept+len(end) > length && strings.HasSuffix(start, w[:kept]) {
			length = kept + len(end)
		}
	}
	return length
}

func (c change) has(word string) bool {
	return strings.HasSuffix(word, c.lost) && isListed(c.words, word)
}

// isListed says whether a list, between spaces and ends of lines, has a word.
func isListed(list, word string) bool {
	if word == "" || strings.ContainsAny(word, between) {
		return false
	}
	for at := 0; ; at++ {
		next := strings.Index(list[at:], word)
		if next < 0 {
			return false
		}
		at += next
		if end := at + len(word); isEnd(list[max(0, at-1):at]) && isEnd(list[end:min(end+1, len(list))]) {
			return true
		}
	}
}

const between = " \n"

// isEnd says whether a character, or none, ends a word of a list.
func isEnd(character string) bool { return character == "" || strings.Contains(between, character) }

// irregular are words that change otherwise than their endings suggest, as do longer ones that end with them.
var irregular = []change{
	{words: "aircraft beef bison chassis deer equipment fish graffiti information jeans media money moose news police"},
	{words: "rice salmon series sheep shrimp species swine trout tuna you"},
	{words: "blues", oneWay: true},
	{got: "s", words: "abuse ache agenda base bureau cause chive clause cookie cruse curriculum dwarf excuse formula fuse"},
	{got: "s", words: "hive hoof house human misuse move movie muse pause pretorium quota shoe stadium vedalia"},
	{got: "s", words: "ID toe use", alone: true},
	{got: "es", words: "buffalo potato tomato topaz"},
	{got: "es", words: "alias", alone: true},
	{got: "e", words: "alumna differentia larva minutia postcava praecava uva vertebra vita"},
	{got: "x", words: "adieu fabliau"},
	{got: "en", words: "ox", alone: true},
	{got: "ren", words: "child"},
	{lost: "an", got: "en", words: "man woman"},
	{lost: "e", got: "ce", words: "die", alone: true},
	{lost: "ex", got: "ices", words: "apex codex index latex vertex vortex"},
	{lost: "f", got: "ves", words: "thief"},
	{lost: "is", got: "es", words: "axis", alone: true},
	{lost: "is", got: "es", words: "basis ellipsis", oneWay: true},
	{lost: "is", got: "es", words: "crisis genesis oasis testis thesis"},
	{lost: "ix", got: "ices", words: "appendix helix radix"},
	{lost: "on", got: "a", words: "criterion ganglion lexicon mitochondrion noumenon phenomenon taxon"},
	{lost: "oose", got: "eese", words: "goose"},
	{lost: "oot", got: "eet", words: "foot"},
	{lost: "ooth", got: "eeth", words: "tooth"},
	{lost: "opus", got: "upuses", words: "octopus"},
	{lost: "ouse", got: "ice", words: "louse", alone: true},
	{lost: "ouse", got: "ice", words: "mouse"},
	{lost: "rson", got: "ople", words: "person"},
	{lost: "um", got: "a", words: "aquarium auditorium symposium"},
	{lost: "um", got: "a", words: "medium", oneWay: true},
	{lost: "us", got: "era", words: "genus"},
	{lost: "us", got: "i", words: "alumnus bacillus cactus coccus focus locus nucleus radius syllabus"},
	{lost: "us", got: "ora", words: "corpus"},
}

// seconds are second plurals of irregular words.
const seconds = `adieus alumnuses apexes appendixes aquariums auditoriums beefs buffalos bureaux cactuses codexes
corpuses curricula dwarves fishes focuses formulae ganglions helixes hooves indexes latexes lexicons locuses
mitochondrions nucleuses octopi radiuses radixes salmons shrimps stadia swines symposiums trouts tunas vertexes vortexes`

// regular are the endings by which all other words change. Capital and small letters differ: S is the end of an
// acronym.
var regular = []change{
	{got: "s", words: "ano ay ey io lause lo oo ouse oy seum tive to uy"},
	{got: "es", words: "S ch o sh ss tz us x zz"},
	{got: "zes", words: "ez iz"},
	{got: "e", words: "bula"},
	{got: "x", words: "eau"},
	{lost: "dula", got: "bulae", words: "dula"}, // sic, and so are the next three
	{lost: "lula", got: "bulae", words: "lula"},
	{lost: "nula", got: "bulae", words: "nula"},
	{lost: "vula", got: "bulae", words: "vula"},
	{lost: "f", got: "ves", words: "arf eaf lf oaf rf"},
	{lost: "fe", got: "ves", words: "afe fe rfe"},
	{lost: "is", got: "es", words: "gnosis iasis kinesis mesis opsis resis ysis"},
	{lost: "on", got: "a", words: "hedron"},
	{lost: "um", got: "a", words: "antum atum brum crum ctum dum elum entum ernum etum eum gnum ilum imum itum ium llum"},
	{lost: "um", got: "a", words: "olum otum oum ovum serum stracum terum trum ulum utum ylum"},
	{lost: "x", got: "ces", words: "trix"},
	{lost: "y", got: "ies", words: "quy y"},
}

// acronyms are one word each, in capitals.
const acronyms = `ACK ACL ADSL AES ANSI API ARP ATM BGP BSS CCITT CHAP CIDR CIR CLI CMOS CPE CPU CRC CRT CSMA DCE DEC
DES DHCP DMI DNS DRAM DSL DSLAM DTE EHA EIA EIGRP EOF ESS FCC FCS FDDI FTP GBIC GEPOF HDLC HTML HTTP HTTPS IANA ICMP
ID IDF IDS IEEE IETF IMAP IP IPS ISDN ISP JSON JWT LACP LAN LAPB LAPF LLC MAC MC MDF MIB MPLS MTU NAC NAT NBMA NIC NRZ
NRZI NVRAM OK OSI OSPF OUI PAP PAT PC PCM PDU PIM POP3 POTS PPP PPTP PTT PVST RAM RARP RCP RFC RIP RLL ROM RSTP RTP
SDLC SFD SFP SLARP SLIP SMTP SNA SNAP SNMP SOF SQL SRAM SSH SSID STP SYN TDM TFTP TIA TOFU UDP URI URL USB UTF8 UTP
UUID VC VLAN VLSM VPN W3C WAN WEP WPA WWW`
