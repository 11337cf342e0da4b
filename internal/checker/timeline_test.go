package checker

import "testing"

// TestManyQueues: what the host has waited for in many queues stays in order with what comes later, also when the
// timeline has begun to forget what needs no comparison any more; and what it has not waited for still races.
func TestManyQueues(t *testing.T) {
	for _, n := range []int{2, 7, 8, 9, 20, 100} {
		var found []*Report
		c := New(NewLog(func(r *Report) { found = append(found, r) }, nil))
		time := c.Time()
		write, read := &Op{Does: Writes, Space: "global"}, &Op{Does: Reads, Space: "global"}
		touch := func(q *Queue, op *Op, i int) {
			a := q.Enqueue(About{What: "copy"})
			a.Touch(op, 1<<20+256*uint64(i), 128)
			a.End()
		}
		queues := make([]*Queue, n)
		for i := range queues {
			queues[i] = time.Queue("stream")
		}
		touch(time.Queue("a stream that nobody waits for"), write, n) // so that the timeline does not forget everything
		for round := range 3 {
			for i, q := range queues {
				touch(q, write, i)
			}
			for _, q := range queues {
				time.HostKnows(q.Now())
			}
			for i := range queues {
				other := time.Queue("default stream")
				touch(other, read, i)
				time.HostKnows(other.Now())
			}
			if len(found) > 0 {
				t.Fatalf("%d queues, round %d: %d reports of operations that the host has waited for", n, round, len(found))
			}
		}
		touch(queues[0], write, 0)
		touch(queues[1], read, 0)
		if len(found) != 1 {
			t.Errorf("%d queues: %d reports of two operations that nothing orders", n, len(found))
		}
	}
}
