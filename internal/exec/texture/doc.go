// Package texture is the texture unit: what tex, tld4, txq, suld, sust, sured and suq do with a texture or surface once
// its handle is resolved.
//
// # Numbers
//
// The programming guide ("Texture Fetching") gives filtering in words: weights of nine bits, eight of them fractional.
// The exact rules here were fitted to fetches recorded on an H200 (corpus module textures and testdata/rules.json.gz:
// every format, channel count, address mode and reading) and reproduce them to the bit, sRGB with filtering excepted
// (filter.go):
//
//   - A normalised coordinate is cut to 21 fractional bits, more for images of more than 8,192 texels, before it is
//     multiplied (coord.go).
//   - A coordinate x becomes x - 0.5 in steps of 1/256, rounded to nearest with ties up (coord.go). Point sampling
//     takes floor(x), without that rounding; a gather takes the rounded coordinates.
//   - Clamping acts on the coordinate: beyond the first and last texel the fraction is 0.
//   - The weight 256 is split among the texels of the footprint, first by z, then by x, then by y, and each part is
//     rounded to a whole number (filter.go), so weights always add up to 256.
//   - Floating-point texels are aligned to the largest exponent among them, cut to 28 bits (15 for half precision),
//     multiplied, summed exactly and rounded to nearest with ties away from zero; to half precision when the texels
//     are.
//   - 8-bit normalised texels are widened to 16 bits (times 257); the weighted sum is rounded to 16 bits and divided by
//     65535; signed ones likewise.
//   - Integers that are read as integers are filtered too where linear filtering is asked for.
//   - Channels that a format does not have read as 0, the fourth too.
//   - A border colour is brought into the format first.
//   - A one-dimensional array is a two-dimensional one of height 1 fetched at y = 0, so with linear filtering and the
//     border mode in the second dimension half of the result is border colour.
//
// What was not recorded follows the guide or the nearest recorded case, and says so where it stands.
//
// Images are plain memory: rows one after another at a pitch, slices and layers after each other.
package texture
