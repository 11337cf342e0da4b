// Package texture is the texture unit: what tex, tld4, txq, suld, sust, sured and suq do with a texture or surface once its handle is
// resolved.
//
// # Numbers
//
// The programming guide ("Texture Fetching") gives filtering in words: weights of nine bits, eight of them fractional. The exact
// rules here were fitted to fetches recorded on an H200 (corpus module textures, 3,712 filtered results in one, two and three dimensions)
// and reproduce every one of them to the bit:
//
//   - A coordinate x becomes x - 0.5 in steps of 1/256, rounded to nearest (coord.go). Point sampling takes floor(x), without that
//     rounding; a gather takes the rounded coordinates.
//   - Clamping acts on the coordinate: beyond the first and last texel the fraction is 0.
//   - The weight 256 is split among the texels of the footprint, first by z, then by x, then by y, and each part is rounded to a whole
//     number (filter.go), so weights always add up to 256.
//   - Floating-point texels are aligned to the largest exponent among them, cut to 28 bits, multiplied, summed exactly and rounded to
//     nearest with ties away from zero.
//   - 8-bit normalised texels are widened to 16 bits (times 257); the weighted sum is rounded to 16 bits and divided by 65535.
//   - A one-dimensional array is a two-dimensional one of height 1 fetched at y = 0, so with linear filtering and the border mode in the
//     second dimension half of the result is border colour.
//
// What was not recorded follows the guide or the nearest recorded case, and says so where it stands.
//
// Images are plain memory: rows one after another at a pitch, slices and layers after each other.
package texture
