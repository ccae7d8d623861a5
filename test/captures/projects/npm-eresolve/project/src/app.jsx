export function Wall({ photos }) {
  return photos.map((photo) => <img key={photo.id} src={photo.url} alt={photo.caption} />)
}
