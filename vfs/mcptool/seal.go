package mcptool

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

// seals tie answers to the questions that were asked by a result: to one call, for one
// time, and for as long as a person may take. Questions that nobody answers take no
// memory here.
type seals struct {
	life time.Duration

	mu   sync.Mutex
	key  []byte
	used map[string]time.Time // until when each could be used again
}

// mostUsed bounds the memory of used seals.
const mostUsed = 1 << 16

// A seal is when it ends, in nanoseconds, a random text, and the mark of both with the
// call.
const (
	endSize   = 8
	headSize  = endSize + 16
	sealBytes = headSize + sha256.Size
)

func newSeals(life time.Duration) *seals {
	life = min(life, 24*time.Hour*366) // which a time in nanoseconds holds
	return &seals{life: life, key: []byte(rand.Text()), used: map[string]time.Time{}}
}

// of returns a new seal for a call.
func (s *seals) of(name string, input json.RawMessage) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	head := make([]byte, headSize, sealBytes)
	binary.BigEndian.PutUint64(head, uint64(time.Now().Add(s.life).UnixNano()))
	_, _ = rand.Read(head[endSize:]) // never fails
	return base64.RawURLEncoding.EncodeToString(s.mark(head, name, input))
}

// mark appends to the head of a seal what only this server can.
func (s *seals) mark(head []byte, name string, input json.RawMessage) []byte {
	mac := hmac.New(sha256.New, s.key)
	mac.Write(head)
	fmt.Fprintf(mac, "%s\n%s", name, input)
	return mac.Sum(head)
}

// use takes a seal that came back with a call, and returns why it does not count, "" when
// it does. It counts once.
func (s *seals) use(sealed, name string, input json.RawMessage) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	given, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil || len(given) != sealBytes || !hmac.Equal(given, s.mark(given[:headSize:headSize], name, input)) {
		return textOther
	}
	now, end := time.Now(), time.Unix(0, int64(binary.BigEndian.Uint64(given)))
	if !now.Before(end) {
		return textSilent
	}
	head := string(given[:headSize])
	if _, was := s.used[head]; was {
		return textUsed
	}
	for other, end := range s.used {
		if !now.Before(end) {
			delete(s.used, other)
		}
	}
	if len(s.used) == mostUsed { // what is asked now is asked anew
		s.key = []byte(rand.Text())
		clear(s.used)
	}
	s.used[head] = end
	return ""
}
