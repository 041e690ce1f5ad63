package shelf

import (
	"math"
	"math/bits"

	"skillrouter"
)

// checkVector returns an error unless a vector has a direction and a dimension
// that can be kept. Whoever answered it is to blame, not the caller.
func checkVector(vector []float32) error {
	if len(vector) == 0 || len(vector) > MaxDimension {
		return skillrouter.Errorf(skillrouter.Unavailable, "the embedding model answered a vector of %d dimensions, and 1 to %d can be kept", len(vector), MaxDimension)
	}
	sum := squares(vector)
	if math.IsNaN(sum) || math.IsInf(sum, 0) || sum == 0 {
		return skillrouter.Errorf(skillrouter.Unavailable, "the embedding model answered a vector without a direction: it holds nothing but zeros, or what is no number")
	}
	return nil
}

func squares(vector []float32) float64 {
	sum := 0.0
	for _, x := range vector {
		sum += float64(x) * float64(x)
	}
	return sum
}

// quantize makes bytes of a vector that checkVector lets pass. Of the vector of
// length 1, each part becomes the nearest of 255 steps up to the largest: the
// cosine of two vectors is then kept to about 0.001, in a quarter of the memory.
func quantize(vector []float32) (code []int8, scale float32) {
	length := math.Sqrt(squares(vector))
	largest := 0.0
	for _, x := range vector {
		largest = max(largest, math.Abs(float64(x)))
	}
	code = make([]int8, len(vector))
	for i, x := range vector {
		code[i] = int8(math.Round(float64(x) / largest * 127))
	}
	return code, float32(largest / length / 127)
}

// dot is the product of two codes of the same length.
func dot(a, b []int8) int32 {
	var s0, s1, s2, s3 int32
	for len(a) >= 8 && len(b) >= 8 {
		x, y := (*[8]int8)(a), (*[8]int8)(b)
		s0 += int32(x[0])*int32(y[0]) + int32(x[4])*int32(y[4])
		s1 += int32(x[1])*int32(y[1]) + int32(x[5])*int32(y[5])
		s2 += int32(x[2])*int32(y[2]) + int32(x[6])*int32(y[6])
		s3 += int32(x[3])*int32(y[3]) + int32(x[7])*int32(y[7])
		a, b = a[8:], b[8:]
	}
	for i := range a {
		s0 += int32(a[i]) * int32(b[i])
	}
	return s0 + s1 + s2 + s3
}

// signWords is how many words the signs of a code take.
func signWords(dimension int) int { return (dimension + 63) / 64 }

// signs sets a bit for each part of a code that is positive.
func signs(code []int8, into []uint64) {
	clear(into)
	for i, c := range code {
		if c > 0 {
			into[i/64] |= 1 << (i % 64)
		}
	}
}

// apart counts the signs that differ.
func apart(a, b []uint64) int {
	n := 0
	b = b[:len(a)]
	for i := range a {
		n += bits.OnesCount64(a[i] ^ b[i])
	}
	return n
}
